/// Reads a list again and again until it has a number of elements; returns the elements that there are when the time is
/// over.
///
/// The change log of a server waits for older transactions, of other tests too.
package func polling<Element>(
    forAtLeast count: Int, within time: Duration = .seconds(30), _ read: () async throws -> [Element]
) async throws -> [Element] {
    let deadline = ContinuousClock.now + time
    while true {
        let elements = try await read()
        if elements.count >= count || ContinuousClock.now > deadline { return elements }
        try await Task.sleep(for: .milliseconds(2))
    }
}
