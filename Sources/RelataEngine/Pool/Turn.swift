import CRelataEngine

/// The time in which a thread of Swift's pool serves calls that don't suspend.
///
/// A call runs where its task is, and finds a connection at once as long as one is free: a task that makes one call after
/// another would never let another task onto its thread. So a call that comes when the thread's turn is over lets the
/// others run first. A turn lasts some milliseconds, or 256 calls. It ends by itself where the thread does something else
/// for a while.
package enum Turn {
    /// Whether the calling thread's turn is over. Asked when a call begins.
    package static var isOver: Bool { relata_turn_is_over() }

    /// Lets the tasks run that wait for a thread, and begins a new turn.
    package static func pass() async {
        await Task.yield()
        relata_turn_begin()
    }

    /// Notes the end of a call.
    package static func end() { relata_turn_end() }
}
