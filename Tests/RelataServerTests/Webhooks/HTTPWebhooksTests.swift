#if Server
import Crypto
import Foundation
import NIOCore
import RelataCore
import RelataParse
import TestSupport
import Testing

@testable import RelataServer

/// Calls of webhooks by HTTP.
struct HTTPWebhooksTests {
    private static var local: HTTPWebhooks {
        var sender = HTTPWebhooks()
        sender.allowsPrivateAddresses = true
        return sender
    }

    private static func request(_ url: String, _ body: String = "{}", id: String = "7") -> WebhookRequest {
        WebhookRequest(url: url, body: Array(body.utf8), id: id)
    }

    /// The error of a call.
    private static func failure(_ url: String, _ sender: HTTPWebhooks = local) async -> (
        text: String, isTemporary: Bool
    ) {
        do {
            let reply = try await sender.send(request(url))
            return ("answered with \(reply.status)", false)
        } catch {
            let known = error as? WebhookError
            return (known?.description ?? "another error: \(error)", known?.isTemporary ?? false)
        }
    }

    @Test func aCallIsSignedAndNamesTheKey() async throws {
        var sender = Self.local
        sender.key = "the-key"
        sender.secret = "the-secret"
        sender.now = { Date(timeIntervalSince1970: 1_800_000_000.9) }
        let body = #"{"functionName":"hello","params":{"who":"wörld"}}"#
        let call = try await WebhookServer.running({ _ in .success() }) { [sender] server in
            let reply = try await sender.send(Self.request(server.url("/a?b=c"), body))
            #expect(reply.status == 200 && String(decoding: reply.body, as: UTF8.self) == #"{"success":true}"#)
            return try #require(server.calls.first)
        }
        #expect(call.method == "POST" && call.path == "/a?b=c" && call.body == Array(body.utf8))
        #expect(call.headers["content-type"] == ["application/json"])
        #expect(call.headers["x-parse-webhook-key"] == ["the-key"])
        #expect(call.headers["x-relata-webhook-id"] == ["7"])
        #expect(call.headers["x-relata-webhook-timestamp"] == ["1800000000"])
        let signature = try #require(call.headers["x-relata-webhook-signature"].first)
        let code = HMAC<SHA256>.authenticationCode(
            for: Data("1800000000.\(body)".utf8), using: SymmetricKey(data: Data("the-secret".utf8)))
        #expect(signature == "sha256=" + code.map { String(format: "%02x", $0) }.joined())
        #expect(!call.headers.contains { $0.value.contains("the-secret") })
    }

    @Test func withoutASecretTheKeySigns() {
        // A value that others can check: `printf '1.{}' | openssl dgst -sha256 -hmac key`.
        let signature = HTTPWebhooks.signature(of: Array("{}".utf8), at: "1", by: "key")
        let code = HMAC<SHA256>.authenticationCode(for: Data("1.{}".utf8), using: SymmetricKey(data: Data("key".utf8)))
        #expect(signature == "sha256=" + code.map { String(format: "%02x", $0) }.joined())
    }

    @Test func addressesOnThisMachineAreRefused() async throws {
        try await WebhookServer.running({ _ in .success() }) { server in
            for host in [
                "127.0.0.1", "localhost", "2130706433", "0x7f.1", "127.1", "0.0.0.0", "[::ffff:127.0.0.1]", "[::1]",
            ] {
                let failure = await Self.failure(server.url(host: host), HTTPWebhooks())
                let isRefused = failure.text.contains("on this machine or in a private network")
                // Some systems don't know every spelling.
                #expect(
                    isRefused || failure.text.contains("can't be reached")
                        || failure.text.contains("must be an address"), "\(failure)")
                #expect(isRefused ? !failure.isTemporary : true)
            }
            #expect(server.calls.isEmpty)
        }
        #expect(
            HTTPWebhooks().problem(with: "http://169.254.169.254/latest/meta-data")?.contains("private network") == true
        )
        #expect(HTTPWebhooks().problem(with: "https://10.0.0.1/") != nil)
        #expect(HTTPWebhooks().problem(with: "https://[fd00::1]/") != nil)
        #expect(HTTPWebhooks().problem(with: "https://example.org/hook") == nil)
        #expect(Self.local.problem(with: "http://10.0.0.1/") == nil)
        for port in ["", ":", ":1", ":65535"] {
            #expect(HTTPWebhooks().problem(with: "https://example.org\(port)/hook") == nil)
        }
        for url in [
            "ftp://example.org", "example.org", "http://mei:secret@example.org/", "http://a b/",
            "http://example.org/#x", "http://example.org:0/", "http://example.org:65536/",
            "http://example.org:99999999999999999999/", "https://[2606:4700:4700::1111]:99999999999999999999/",
        ] {
            #expect(Self.local.problem(with: url) != nil, "\(url)")
        }
    }

    @Test(arguments: [
        ("0.0.0.0", false), ("10.1.2.3", false), ("100.64.0.1", false), ("100.128.0.1", true), ("127.0.0.1", false),
        ("127.255.255.254", false), ("169.254.169.254", false), ("172.15.0.1", true), ("172.16.0.1", false),
        ("172.31.255.255", false), ("172.32.0.1", true), ("192.0.0.1", false), ("192.0.2.1", false),
        ("192.168.1.1", false), ("192.167.1.1", true), ("198.18.0.1", false), ("198.51.100.7", false),
        ("203.0.113.7", false), ("224.0.0.1", false), ("240.0.0.1", false), ("255.255.255.255", false),
        ("8.8.8.8", true), ("1.1.1.1", true), ("::", false), ("::1", false), ("::ffff:127.0.0.1", false),
        ("::ffff:10.0.0.1", false), ("::ffff:8.8.8.8", true), ("::7f00:1", false), ("fc00::1", false),
        ("fd12:3456::1", false), ("fe80::1", false), ("fec0::1", false), ("ff02::1", false), ("2001:db8::1", false),
        ("2001::1", false), ("2002:7f00:1::", false), ("64:ff9b::7f00:1", false), ("64:ff9b::808:808", true),
        ("64:ff9b:1::808:808", false), ("100::1", false), ("2606:4700:4700::1111", true),
        ("2001:4860:4860::8888", true),
        ("3fff:1::1", false), ("5f00::1", false),
    ])
    func anAddressIsPublicOrNot(address: String, isPublic: Bool) throws {
        #expect(NetworkReach.isPublic(try SocketAddress(ipAddress: address, port: 80)) == isPublic)
    }

    @Test func hangingWebhooksTimeOut() async throws {
        try await WebhookServer.running({ _ in nil }) { server in
            var sender = Self.local
            sender.timeout = .milliseconds(100)
            let failure = await Self.failure(server.url(), sender)
            #expect(failure.text == "it took longer than 0.1 seconds" && failure.isTemporary, "\(failure)")
        }
    }

    @Test func aCancelledCallEnds() async throws {
        try await WebhookServer.running({ _ in nil }) { server in
            let task = Task { try await Self.local.send(Self.request(server.url())) }
            await waitUntil { !server.calls.isEmpty }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test func redirectsAreNotFollowed() async throws {
        let answer = WebhookServer.Answer(status: .temporaryRedirect, headers: ["Location": "/other"], body: "")
        try await WebhookServer.running({ $0.path == "/hook" ? answer : .success() }) { server in
            let failure = await Self.failure(server.url())
            #expect(failure.text.contains("redirects (307)") && !failure.isTemporary, "\(failure)")
            #expect(server.calls.count == 1)
        }
    }

    @Test func aHugeReplyIsNotRead() async throws {
        let answer = WebhookServer.Answer(body: String(repeating: "x", count: 100_000))
        try await WebhookServer.running({ _ in answer }) { server in
            var sender = Self.local
            sender.maximumReply = 1000
            let failure = await Self.failure(server.url(), sender)
            #expect(failure.text == "it has more than 1000 bytes" && !failure.isTemporary, "\(failure)")
        }
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"success\":true}", "HTTP/1.1 200 OK\r\nCont", "",
    ])
    func aConnectionThatBreaksInTheReplyFailsTemporarily(reply: String) async throws {
        try await RawServer.running(reply: { _, _ in reply }) { server in
            let failure = await Self.failure("http://127.0.0.1:\(server.port)/")
            let isBroken = failure.text.contains("broke off") || failure.text.contains("closed the connection")
            #expect(isBroken && failure.isTemporary, "\(failure)")
        }
    }

    @Test func nonHTTPRepliesFailPermanently() async throws {
        try await RawServer.running(reply: { _, _ in "nonsense\r\n\r\n" }) { server in
            let failure = await Self.failure("http://127.0.0.1:\(server.port)/")
            #expect(failure.text.contains("doesn't speak HTTP") && !failure.isTemporary, "\(failure)")
        }
    }

    @Test func anUnreachableWebhookFailsTemporarily() async throws {
        let port = try await WebhookServer.running({ _ in nil }) { $0.port }
        let failure = await Self.failure("http://127.0.0.1:\(port)/")
        #expect(failure.text.contains("can't be reached") && failure.isTemporary, "\(failure)")
        #expect(await Self.failure("http://nobody.invalid/").text.contains("can't be reached"))
    }

    @Test func invalidWebhookSettingsAreNamed() {
        for change: (inout HTTPWebhooks) -> Void in [
            { $0.key = "" }, { $0.key = "a\r\nb" }, { $0.secret = "ä" }, { $0.timeout = .zero },
            { $0.maximumReply = 0 },
            { $0.certificates = "/nowhere.pem" },
        ] {
            var sender = HTTPWebhooks()
            change(&sender)
            #expect(throws: RelataError.self) { try sender.check() }
        }
        #expect(throws: Never.self) { try HTTPWebhooks().check() }
    }
}
#endif
