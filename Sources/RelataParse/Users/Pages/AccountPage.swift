import Foundation

/// A page that a link in a mail opens.
public struct AccountPage: Sendable {
    /// The HTTP status.
    public var status: Int
    /// The page, as HTML.
    public var html: String

    /// The header fields that protect a page: it loads and runs nothing, can't be shown in a frame or cached, and sends
    /// its address, which contains the link's secret, to no other site.
    public static let headers: [(name: String, value: String)] = [
        (
            "content-security-policy",
            """
            default-src 'none'; style-src '\(styleHash)'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'
            """
        ),
        ("referrer-policy", "no-referrer"), ("cache-control", "no-store"), ("x-frame-options", "DENY"),
        ("x-content-type-options", "nosniff"), ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"), ("vary", "Accept-Language"),
    ]

    /// The style of all pages. ``styleHash`` is the hash of its text.
    static let style = """
        body{font:1rem/1.5 system-ui,sans-serif;max-width:26rem;margin:3rem auto;padding:0 1rem}\
        label,input,button{display:block;width:100%;box-sizing:border-box;font:inherit}\
        input,button{padding:.5rem;margin:.25rem 0 1rem}[role=alert]{color:#a00}
        """
    static let styleHash = "sha256-vHqpeJqf/CcCGab1tT90dTQ8GajPbRchLot2Q0onoVk="

    /// The last part of the path of the page for a purpose.
    static func path(of purpose: MailTemplate.Purpose) -> String {
        purpose == .passwordReset ? "request_password_reset" : "verify_email"
    }

    // MARK: Writing

    /// - Parameters:
    ///   - paragraphs: Plain text.
    ///   - form: HTML.
    init(status: Int = 200, _ texts: PageTexts, app: String, title: String, _ paragraphs: [String], form: String = "") {
        self.status = status
        let lines = paragraphs.map { "<p>\(Self.escaped($0))</p>" }.joined(separator: "\n")
        html = """
            <!DOCTYPE html>
            <html lang="\(texts.language)">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="robots" content="noindex">
            <title>\(Self.escaped("\(title) – \(app)"))</title>
            <style>\(Self.style)</style>
            </head>
            <body>
            <main>
            <h1>\(Self.escaped(title))</h1>
            \(lines)
            \(form)
            </main>
            </body>
            </html>

            """
    }

    /// Text as HTML.
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
