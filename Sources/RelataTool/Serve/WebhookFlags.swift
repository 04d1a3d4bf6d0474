#if CommandLineTool && Server
import ArgumentParser
import RelataParse
import RelataServer

/// The flags of `relata serve` for webhooks.
struct WebhookFlags: ParsableArguments {
    @Option(help: "The X-Parse-Webhook-Key for webhooks; better as RELATA_WEBHOOK_KEY.") var webhookKey: String?
    @Option(
        help:
            "The secret that signs calls of webhooks; better as RELATA_WEBHOOK_SECRET. (default: the key of --webhook-key)"
    )
    var webhookSecret: String?
    @Option(help: "Seconds that a webhook may take. (default: 5)") var webhookTimeout: String?
    @Option(help: "A PEM file with the trusted certificates for webhooks.", completion: .file())
    var webhookCertificates: String?
    @Flag(help: "Allow webhooks on this machine and in private networks.") var privateWebhooks = false

    var given: [ServeSetting: String] {
        let options: [ServeSetting: String?] = [
            .webhookKey: webhookKey, .webhookSecret: webhookSecret, .webhookTimeout: webhookTimeout,
            .webhookCertificates: webhookCertificates, .privateWebhooks: privateWebhooks ? "true" : nil,
        ]
        return options.compactMapValues { $0 }
    }
}

extension ServeSettings {
    /// The options for webhooks.
    ///
    /// - Throws: `ValidationError` that names an invalid setting.
    func webhooks() throws -> WebhookOptions {
        var sender = HTTPWebhooks()
        sender.key = text(.webhookKey)
        sender.secret = text(.webhookSecret)
        if let time = try seconds(.webhookTimeout) { sender.timeout = time }
        sender.certificates = text(.webhookCertificates)
        sender.allowsPrivateAddresses = try isOn(.privateWebhooks)
        return WebhookOptions(sender)
    }
}
#endif
