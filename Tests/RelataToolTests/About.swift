// The command-line tool is tested as a process: its output, its errors and its exit codes.
