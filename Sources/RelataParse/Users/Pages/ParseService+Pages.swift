import Foundation
import RelataCore

extension ParseService {
    /// The maximum size of a page's form, in bytes.
    static let maximumForm = 16 * 1024

    /// The page for a request; `nil` if the request isn't for a page. Pages need no keys, and never redirect to an
    /// address in the request.
    ///
    /// - Parameter report: Called with errors whose details the page doesn't show.
    public func page(
        for request: WireRequest, report: @Sendable (any Error) -> Void = { _ in }
    ) async -> AccountPage? {
        guard let mail = options.mail, hasUsers, request.path.hasPrefix("/apps/"),
            let path = try? ParseCall.path(request.path), path.count == 3
        else { return nil }
        let purpose = MailTemplate.Purpose.allCases.first { AccountPage.path(of: $0) == path[2] }
        guard let purpose, ["GET", "POST"].contains(request.method) else { return nil }
        let desk = AccountDesk(
            service: self, app: mail.appName, texts: .texts(for: request.headers["accept-language"]), purpose: purpose)
        guard path[1] == keys.applicationID else { return desk.invalid }
        do {
            try await budget?.take(CountedRequest(request.method, path), Caller(), request.address)
            return try await desk.answer(request)
        } catch {
            let parseError = ParseError(error, report: report)
            return parseError == .tokenIsInvalid ? desk.invalid : desk.failed(parseError)
        }
    }
}

/// Answers the requests for one page. `GET` shows a form and changes nothing, because some programs open every link of
/// a mail. `POST` performs the action.
struct AccountDesk {
    let service: ParseService
    let app: String
    let texts: PageTexts
    let purpose: MailTemplate.Purpose

    func answer(_ request: WireRequest) async throws -> AccountPage {
        guard request.method == "POST" else {
            let token = try ParseCall.parameters(request.query)["token"]?.string ?? ""
            return form(token, of: try await service.linkedUser(token, purpose))
        }
        guard request.body.count <= ParseService.maximumForm else { return invalid }
        let fields = try ParseCall.parameters(String(decoding: request.body, as: UTF8.self))
        let token = fields["token"]?.string ?? ""
        guard purpose == .passwordReset else {
            try await service.verifyAddress(by: token)
            return page(texts.verifyTitle, [texts.isVerified])
        }
        let user = try await service.linkedUser(token, purpose)
        let (password, again) = (fields["password"]?.string ?? "", fields["again"]?.string ?? "")
        if let problem = problem(password, again) { return form(token, of: user, problem: problem) }
        do {
            try await service.setPassword(password, by: token)
        } catch let error as ParseError where error.code == .validationError {
            return form(token, of: user, problem: explained(error, password, of: user))
        }
        return page(texts.resetTitle, [texts.isSet])
    }

    private func problem(_ password: String, _ again: String) -> String? {
        if password.isEmpty { return texts.isEmpty }
        if !password.hasSameBytes(as: again) { return texts.areDifferent }
        return password.utf8.count > UserFields.maximumPassword ? texts.isTooLong : nil
    }

    /// The reason why a password is refused, in the language of the page.
    private func explained(_ error: ParseError, _ password: String, of user: StoredUser) -> String {
        let rules = service.options.passwords
        if let advice = rules.advice, error.message == advice { return advice }
        if error.message == PasswordOptions.wasUsed(rules.history).message { return texts.wasUsed(rules.history) }
        return error == PasswordOptions.containsUsername ? texts.containsName : texts.isNotGood
    }

    // MARK: Pages

    private func form(_ token: String, of user: StoredUser, problem: String? = nil) -> AccountPage {
        let alert = problem.map { "<p role=\"alert\">\(AccountPage.escaped($0))</p>\n" } ?? ""
        let start = """
            \(alert)<form method="post" action="\(AccountPage.path(of: purpose))">
            <input type="hidden" name="token" value="\(AccountPage.escaped(token))">
            """
        guard purpose == .passwordReset else {
            return page(
                texts.verifyTitle, [texts.verifyFor(user.email ?? "", user.name), texts.verifyOnlyIf],
                form: "\(start)\n<button>\(AccountPage.escaped(texts.verify))</button>\n</form>")
        }
        func field(_ name: String, _ label: String) -> String {
            """
            <label for="\(name)">\(AccountPage.escaped(label))</label>
            <input type="password" id="\(name)" name="\(name)" autocomplete="new-password" required>
            """
        }
        return page(
            texts.resetTitle, [texts.resetFor(user.name)],
            form: """
                \(start)
                \(field("password", texts.password))
                \(field("again", texts.again))
                <button>\(AccountPage.escaped(texts.setPassword))</button>
                </form>
                """, status: problem == nil ? 200 : 400)
    }

    private func page(
        _ title: String, _ paragraphs: [String], form: String = "", status: Int = 200
    ) -> AccountPage {
        AccountPage(status: status, texts, app: app, title: title, paragraphs, form: form)
    }

    var invalid: AccountPage { page(texts.invalidTitle, [texts.isInvalid], status: 404) }

    func failed(_ error: ParseError) -> AccountPage {
        page(texts.failedTitle, [texts.hasFailed], status: error.status)
    }
}
