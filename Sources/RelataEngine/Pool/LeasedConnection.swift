import Foundation

/// A connection that passes from one holder to the next. Safe to send: the pool doesn't use it while it is held, and
/// the lock that it passes through orders the holders' accesses.
struct LeasedConnection: @unchecked Sendable {
    let connection: Connection
}

enum ThreadIdentity {
    /// A number that no other running thread has.
    static var current: UInt {
        #if canImport(Darwin)
        UInt(bitPattern: pthread_self())
        #else
        UInt(pthread_self())
        #endif
    }
}
