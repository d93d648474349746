"""How numbers, matrices and curves are shown to people; knows the results it draws only by what it needs of them."""
