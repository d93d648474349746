"""`python -m elicit_app`: the same as `elicit`."""

from elicit_command import main

if __name__ == "__main__":
    main()
