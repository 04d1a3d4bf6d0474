#if Server && CommandLineTool
import Foundation
import RelataParse
import ServerClient
import Testing

@testable import RelataServer

/// The settings of `relata serve` for files.
struct ServeFilesTests {
    private static let storeKeys = ["AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"]

    @Test(arguments: [
        ["--file-uploads", "users"], ["--max-file", "1M"], ["--file-extensions", "txt"],
        ["--denied-file-extensions", "exe"], ["--inline-file-types", "image/png"], ["--unused-files", "60"],
        ["--signed-files", "60"], ["--s3-endpoint", "https://s3.example"], ["--s3-region", "eu-central-1"],
        ["--s3-certificates", "ca.pem"],
    ])
    func settingsOfFilesNeedAPlaceForThem(_ arguments: [String]) throws {
        let result = try ServeCommandTests().run([":memory:", "--port", "0"] + arguments)
        #expect(
            result.text == "relata: \(arguments[0]) needs --files, where they are stored (see relata --help)\n")
        #expect(result.status == 64)
    }

    @Test(arguments: [
        (["--s3-endpoint", "https://s3.example"], "--s3-endpoint needs --files s3://BUCKET (see relata --help)"),
        (["--s3-region", "eu-central-1"], "--s3-region needs --files s3://BUCKET (see relata --help)"),
        (["--s3-certificates", "ca.pem"], "--s3-certificates needs --files s3://BUCKET (see relata --help)"),
        (["--file-uploads", "users,nobody"], "--file-uploads must be a list of public, anonymous, users, not nobody"),
        (["--max-file", "much"], "--max-file must be a number of bytes such as 500000, 64K or 20M, not much"),
        (["--max-file", "0"], "maximumSize of files is 0"), (["--unused-files", "0"], "unusedLifetime of files is 0"),
        (["--unused-files", "9223372036854775807"], "at most a hundred years"),
        (["--unused-files", "soon"], "--unused-files must be a whole number, not soon"),
        (["--signed-files", "0"], "the lifetime of signed addresses is 0"),
        (["--signed-files", "31536001"], "the lifetime of signed addresses is 31536001"),
        (["--public-url", "example.org"], "the public address example.org isn't one such as https://"),
    ])
    func invalidSettingsAreRefused(_ arguments: [String], _ message: String) throws {
        let folder = try ServerFolder()
        let result = try ServeCommandTests().run(
            [":memory:", "--port", "0", "--files", folder.path("files")] + arguments)
        #expect(result.text.contains(message), "\(result.text)")
        #expect(result.status != 0)
    }

    @Test(.enabled(if: ProcessInfo.processInfo.environment["AWS_SECRET_ACCESS_KEY"] == nil, "there are keys"))
    func aBucketNeedsKeys() throws {
        let result = try ServeCommandTests().run([":memory:", "--port", "0", "--files", "s3://library-files"])
        #expect(
            result.text
                == "relata: --files s3://BUCKET needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment (see relata --help)\n"
        )
        #expect(result.status == 64)
    }

    @Test(arguments: [
        (["--files", "s3://"], "isn't a bucket's name"), (["--files", "s3:///photos"], "isn't a bucket's name"),
        (["--files", "s3://ab/photos"], "ab isn't a bucket's name"),
        (["--files", "s3://library-files/a//b"], "a//b/ isn't a prefix in a bucket"),
        (["--files", "s3://library-files/photos", "--s3-region", "eu central"], "eu central isn't a region"),
        (
            ["--files", "s3://library-files", "--s3-endpoint", "https://s3.example?a=b"],
            "the address of the store of files has parameters"
        ),
        (
            ["--files", "s3://library-files", "--s3-certificates", "/nowhere/ca.pem"],
            "/nowhere/ca.pem: contains no certificates"
        ),
    ])
    func invalidPlacesInAStoreAreRefused(_ arguments: [String], _ message: String) throws {
        let result = try ServeCommandTests().run(
            [":memory:", "--port", "0"] + arguments, environment: Self.storeKeys)
        #expect(result.text.contains(message), "\(result.text)")
        #expect(result.status == 1)
    }

    @Test func emptyKeysOfAStoreAreRefused() throws {
        let result = try ServeCommandTests().run(
            [":memory:", "--port", "0", "--files", "s3://library-files"],
            environment: Self.storeKeys.merging(["AWS_SECRET_ACCESS_KEY": ""]) { $1 })
        #expect(result.text.contains("the store of files needs an access key and a secret key"), "\(result.text)")
        #expect(result.status == 1)
    }

    @Test func theSettingsAreApplied() throws {
        let folder = try ServerFolder()
        let server = ServedFile(
            tool: try ServedTool.executable, path: folder.path("library.sqlite"),
            options: [
                "--files", folder.path("files"), "--file-uploads", "Public, users", "--max-file", "10",
                "--file-extensions", ".TXT,md,exe", "--denied-file-extensions", ".exe", "--inline-file-types",
                "Text/Markdown", "--signed-files", "60", "--unused-files", "", "--app-id", "app", "--client-key", "",
            ])
        try server.start()
        let connection = try ServerConnection(port: server.port)
        func upload(_ name: String, _ text: String = "hello") throws -> ServerReplyText {
            // The connection ends with a refusal that comes before the content.
            try ServerConnection(port: server.port).request(
                "POST", "/parse/files/\(name)", headers: ["X-Parse-Application-Id": "app"], body: Array(text.utf8))
        }
        for name in ["a.png", "a.exe"] {
            let refused = try upload(name)
            #expect(refused.code == 130 && refused.text.contains("is disabled"), "\(name): \(refused.text)")
        }
        let origin = "http://127.0.0.1:\(server.port)"
        for (name, isInline) in [("a.txt", false), ("a.md", true)] {
            let stored = try upload(name)
            let url = try #require(try stored.json["url"]?.string, "\(stored.text)")
            let signed = String(url.dropFirst(origin.count))
            let file = try connection.request("GET", signed)
            #expect(file.status == 200 && file.text == "hello", "\(file.text)")
            #expect((file.headers["content-disposition"] == nil) == isInline, "\(file.headers)")
            // Without its signature, the address isn't valid.
            let plain = String(signed.prefix { $0 != "?" })
            #expect(plain != signed)
            #expect(try connection.request("GET", plain).code == 119)
        }
        // A larger file isn't even read.
        #expect(try upload("a.txt", "more than ten").code == 116)
        #expect(server.stop() == 0)
    }

    @Test func uploadsAreRefusedToThoseWhoAreNotNamed() throws {
        let folder = try ServerFolder()
        let server = ServedFile(
            tool: try ServedTool.executable, path: folder.path("library.sqlite"),
            options: [
                "--files", folder.path("files"), "--file-uploads", "anonymous", "--app-id", "app", "--client-key", "",
            ])
        try server.start()
        func post(_ path: String, _ text: String, as token: String? = nil) throws -> ServerReplyText {
            var headers = ["X-Parse-Application-Id": "app"]
            headers["X-Parse-Session-Token"] = token
            // The connection ends with a refusal that comes before the content.
            return try ServerConnection(port: server.port).request(
                "POST", "/parse\(path)", headers: headers, body: Array(text.utf8))
        }
        let mei = try post("/users", #"{"username": "mei", "password": "secret of mei"}"#)
        let anonymous = try post("/users", #"{"authData": {"anonymous": {"id": "0123456789"}}}"#)
        let token = try #require(try anonymous.json["sessionToken"]?.string, "\(anonymous.text)")
        #expect(try post("/files/a.txt", "hello").code == 130)
        #expect(try post("/files/a.txt", "hello", as: try mei.json["sessionToken"]?.string).code == 130)
        #expect(try post("/files/a.txt", "hello", as: token).status == 201)
        #expect(server.stop() == 0)
    }
}
#endif
