"""Run the command from a bare checkout: python cli.py convert …"""

from transpile.command.cli import main

if __name__ == "__main__":
    main()
