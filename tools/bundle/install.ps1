# Put elicit into this account: the program, its entry in the start menu, and *.elicit files that open it.
$ErrorActionPreference = "Stop"
$place = Join-Path $env:LOCALAPPDATA "Programs\elicit"
if (Test-Path $place) { Remove-Item -Recurse -Force $place }
Copy-Item -Recurse $PSScriptRoot $place
$program = Join-Path $place "elicit.exe"
$classes = "HKCU:\Software\Classes"
New-Item -Force "$classes\.elicit" -Value "elicit.study" | Out-Null
New-Item -Force "$classes\elicit.study" -Value "elicit study" | Out-Null
New-Item -Force "$classes\elicit.study\DefaultIcon" -Value "`"$program`",0" | Out-Null
New-Item -Force "$classes\elicit.study\shell\open\command" -Value "`"$program`" open `"%1`"" | Out-Null
$menu = Join-Path ([Environment]::GetFolderPath("Programs")) "elicit.lnk"
$link = (New-Object -ComObject WScript.Shell).CreateShortcut($menu)
$link.TargetPath = $program
$link.Save()
Write-Output "elicit is in $place; *.elicit files open with it."
