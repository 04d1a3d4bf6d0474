import Foundation
import RelataCore
import TestSupport
import Testing

@testable import RelataSQLite

/// Files that have their names once they are whole.
@Suite struct NewFileTests {
    private let target: TemporaryFile
    private var path: String { target.path }
    private var folder: String { URL(fileURLWithPath: path).deletingLastPathComponent().path }

    init() throws { target = try TemporaryFile("new.txt") }

    private func write(_ text: String, to file: NewFile) {
        #expect(Array(text.utf8).withUnsafeBytes { Foundation.write(file.descriptor, $0.baseAddress, $0.count) } > 0)
    }

    private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    private func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    private func make(_ path: String, mode: Int) {
        #expect(
            FileManager.default.createFile(
                atPath: path, contents: Data("old".utf8), attributes: [.posixPermissions: mode]))
    }

    @Test func concurrentNewFilesDoNotInterfere() throws {
        do {
            let (first, second) = (try NewFile(path, replaces: true), try NewFile(path, replaces: true))
            write("first, ", to: first)
            write("second", to: second)
            write("which is whole", to: first)
            try first.finish()
            #expect(try text(path) == "first, which is whole")
            try second.finish()
        }
        #expect(try text(path) == "second" && names() == ["new.txt"])
    }

    @Test func aFileThatAppearsDuringTheWriteIsKept() throws {
        do {
            let file = try NewFile(path, replaces: false)
            write("new", to: file)
            make(path, mode: 0o644)
            let error = #expect(throws: RelataError.self) { try file.finish() }
            #expect("\(error as Any)".contains("already exists"))
        }
        #expect(try text(path) == "old" && names() == ["new.txt"])
        let error = #expect(throws: RelataError.self) { try NewFile(path, replaces: false) }
        #expect("\(error as Any)".contains("already exists"))
    }

    @Test func newFilesKeepThePermissions() throws {
        let source = folder + "/source"
        make(source, mode: 0o440)
        try NewFile(path, replaces: true, like: source).finish()
        #expect(try mode(path) == 0o640, "who makes it may write it")
        make(path + "2", mode: 0o604)
        let file = try NewFile(path + "2", replaces: true, like: source)
        #expect(try mode(file.part) == 0o600, "nobody reads what isn't whole")
        try file.finish()
        #expect(try mode(path + "2") == 0o604)
    }

    @Test func unfinishedFilesAreRemoved() throws {
        do { write("half", to: try NewFile(path, replaces: true)) }
        #expect(try names() == [])
    }

    @Test func abandonedFilesAreRemovedAndOpenOnesAreKept() throws {
        let left = folder + "/.relata-part-abcdef"
        try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: false)
        make(left + "/1", mode: 0o600)
        let other = try NewFile(folder + "/other.txt", replaces: true)
        try NewFile(path, replaces: true).finish()
        #expect(!FileManager.default.fileExists(atPath: left))
        write("whole", to: other)
        try other.finish()
        #expect(try text(folder + "/other.txt") == "whole")
    }

    @Test func replacingFollowsSymbolicLinks() throws {
        make(path, mode: 0o644)
        try FileManager.default.createSymbolicLink(atPath: folder + "/link", withDestinationPath: path)
        let file = try NewFile(folder + "/link", replaces: true)
        write("new", to: file)
        try file.finish()
        #expect(try text(path) == "new")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder + "/link") == path)
    }
}
