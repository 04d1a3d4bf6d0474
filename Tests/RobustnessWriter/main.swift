import Foundation
import Relata
import RelataEngine
import RelataSQLite

// A process for tests that kill it, have it lock a file, or write at the same time. Its first argument is what to do,
// the second is the file. It reports each action in a line on standard output, immediately.

/// Unlike `print`, keeps nothing back.
func say(_ line: Any) {
    FileHandle.standardOutput.write(Data("\(line)\n".utf8))
}

func run(_ arguments: [String]) throws {
    guard arguments.count >= 2 else { throw RelataError.invalidUse("say what to do, and with which file") }
    let path = arguments[1]
    switch arguments[0] {
    case "garden":
        // One transaction after the other, until the process is ended.
        let store = try Store.open(path, for: Garden.models)
        // Moves the log into the file often, so that this too is interrupted.
        try store.execute("PRAGMA wal_autocheckpoint = 16")
        var number = try store.count(Receipt.all)
        while true {
            number += 1
            try store.write { try Garden.write(number, in: $0) }
            say(number)
        }
    case "ledger":
        // One transaction after the other on a server that is killed now and then, until the process is ended.
        var options = Store.Options()
        options.busyTimeout = 60
        let store = try Store.open(path, for: Garden.models, options: options)
        let process = Int(arguments[2]) ?? 0
        var number = 0
        while true {
            number += 1
            var isInDoubt = false
            while true {
                do {
                    // A transaction whose commit failed may be stored after all.
                    if isInDoubt, try store.fetch(Receipt.self, id: process * Ledgers.span + number) != nil { break }
                    try store.write { try Ledgers.write(number, of: process, in: $0) }
                    break
                } catch RelataError.fileAccess {
                    isInDoubt = true
                }
            }
            say(number)
        }
    case "count":
        // Reads and writes one number a number of times, concurrently with others.
        var options = Store.Options()
        options.busyTimeout = 60
        let store = try Store.open(path, for: Garden.models, options: options)
        for _ in 0..<(Int(arguments[2]) ?? 0) {
            try store.write { tx in
                guard let tally = try tx.fetch(Tally.self, id: "all") else {
                    try tx.insert(Tally(name: "all", count: 1))
                    return
                }
                try tx.save(Tally(name: "all", count: tally.count + 1))
            }
        }
        try store.close()
        say("done")
    case "lock":
        // Holds the file's lock until its input ends.
        let connection = try Connection(path: path)
        try connection.execute(arguments[2])
        say("locked")
        _ = readLine()
        try connection.close()
    case "open":
        // Opens the file as a user without special rights, writes to it, and reports the result.
        if getuid() == 0 {
            guard setgid(65534) == 0, setuid(65534) == 0 else { throw RelataError.invalidUse("can't become nobody") }
        }
        var options = Store.Options()
        options.isReadOnly = arguments[2] == "read-only"
        let store = try Store.open(path, for: Garden.models, options: options)
        say("opened with \(try store.count(Receipt.all))")
        if !options.isReadOnly { try store.insert(Receipt(number: 1000, note: "written")) }
        try store.close()
        say("closed")
    case "receipts":
        try FollowedWriter.count(path, Int(arguments[2]) ?? 0, say: say)
    case "follow":
        try FollowedWriter.follow(path, arguments[2], say: say)
    case "insert":
        // Inserts a number of objects of a sequence, and prints the process's peak memory in megabytes.
        let store = try Store.open(path, for: Garden.models)
        let count = Int(arguments[2]) ?? 0
        let note = String(repeating: "long ", count: 50)
        let receipts = (1...count).lazy.map { Receipt(number: $0, note: "\($0) " + note) }
        guard try store.insert(contentsOf: receipts) == count, try store.count(Receipt.all) == count else {
            throw RelataError.invalidUse("some are missing")
        }
        try store.close()
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let peak = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
        say((Int(peak.filter(\.isNumber)) ?? 0) / 1024)
    case "fill":
        // Writes until there is no space left, then prints the contents.
        let store = try Store.open(path, for: Garden.models)
        do {
            for number in 1... {
                try store.insert(Receipt(number: number, note: String(repeating: "x", count: 20_000)))
                say(number)
            }
        } catch {
            say(error)
        }
        say("reads \(try store.count(Receipt.all))")
        try store.close()
    #if SQLCipher
    case "rekey":
        // One key after the other, until the process is ended.
        try KeyChanges.change(path, from: Int(arguments[2]) ?? 0, say: say)
    #endif
    default: throw RelataError.invalidUse("there is no \(arguments[0])")
    }
}

do {
    try run(Array(CommandLine.arguments.dropFirst()))
} catch let error as RelataError {
    say("\(Mirror(reflecting: error).children.first?.label ?? ""): \(error)")
    exit(1)
}
