// The command-line tool `relata`.

#if CommandLineTool
await RelataCommand.run(Array(CommandLine.arguments.dropFirst()))
#else
Console.fail("built without its commands: build it with `swift build --traits CommandLineTool --product relata`")
#endif
