#if Server
import Foundation
import RelataCore
import Testing

@testable import RelataServer

struct KeyTests {
    @Test func keysAreGeneratedOnceAndStored() throws {
        let folder = try ServerFolder()
        let path = folder.path("keys")
        let first = try KeyFile(path)
        let masterKey = try #require(first.newMasterKey)
        #expect(masterKey.count == 32)
        #expect(first.keys.masterKey?.matches(masterKey) == true)
        let second = try KeyFile(path)
        #expect(second.newMasterKey == nil)
        #expect(second.keys.applicationID == first.keys.applicationID)
        #expect(second.keys.clientKey == first.keys.clientKey)
        #expect(second.keys.masterKey?.matches(masterKey) == true)
        #expect(second.keys.masterKey?.matches(masterKey + "x") == false)
    }

    @Test func onlyTheOwnerCanReadTheFileWhichLacksTheMasterKey() throws {
        let folder = try ServerFolder()
        let path = folder.path("keys")
        let masterKey = try #require(try KeyFile(path).newMasterKey)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        #expect(try !String(contentsOfFile: path, encoding: .utf8).contains(masterKey))
    }

    @Test func aFileThatOthersCanReadIsRefused() throws {
        let folder = try ServerFolder()
        let path = folder.path("keys")
        _ = try KeyFile(path)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        #expect {
            try KeyFile(path)
        } throws: {
            "\($0)".contains("\(path)") && "\($0)".contains("others can read it")
        }
    }

    @Test func aLinkCountsAsTheFileItLeadsTo() throws {
        let folder = try ServerFolder()
        let (path, link) = (folder.path("keys"), folder.path("link"))
        let kept = try KeyFile(path)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        #expect(try KeyFile(link).keys.applicationID == kept.keys.applicationID)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        #expect {
            try KeyFile(link)
        } throws: {
            "\($0)".contains("\(link)") && "\($0)".contains("others can read it")
        }
    }

    @Test func aFolderIsNotAKeyFile() throws {
        let folder = try ServerFolder()
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.url.path)
        #expect(throws: RelataError.self) { try KeyFile(folder.url.path) }
    }

    @Test func anotherFileIsRefusedAndNotChanged() throws {
        let folder = try ServerFolder()
        let path = folder.path("keys")
        try folder.write("something else", to: path)
        #expect(throws: RelataError.self) { try KeyFile(path) }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "something else")
    }

    @Test func givenKeysReplaceThoseInTheFile() throws {
        let folder = try ServerFolder()
        let path = folder.path("keys")
        let kept = try KeyFile(path)
        let given = try KeyFile(path, given: .init(applicationID: "app", clientKey: "", masterKey: "master"))
        #expect(given.keys.applicationID == "app")
        #expect(given.keys.clientKey == nil)
        #expect(given.keys.masterKey?.matches("master") == true)
        #expect(try KeyFile(path).keys.applicationID == kept.keys.applicationID)
        #expect(try KeyFile(path, given: .init(masterKey: "")).keys.masterKey == nil)
    }

    @Test func equalKeysHaveDifferentHashes() {
        #expect(HashedKey("master") != HashedKey("master"))
        #expect(HashedKey("master").matches("master"))
        #expect(!HashedKey("master").matches(""))
        #expect(ServerKeys.newKey() != ServerKeys.newKey())
    }

    @Test func clientsNeedTheClientKeyIfThereIsOne() throws {
        let keys = KeyRing(ServerKeys(applicationID: "app", clientKey: "client", masterKey: "master"))
            .parseKeys
        #expect(keys.isClientKey?("client") == true)
        #expect(keys.isClientKey?("clienT") == false)
        #expect(keys.isClientKey?("") == false)
        #expect(keys.isMasterKey?("master") == true)
        #expect(keys.isMasterKey?("client") == false)
        #expect(KeyRing(ServerKeys(applicationID: "app")).parseKeys.isClientKey == nil)
        #expect(KeyRing(ServerKeys(applicationID: "app")).parseKeys.isMasterKey?("") == false)
    }
}
#endif
