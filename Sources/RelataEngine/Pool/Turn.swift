import CRelataEngine

/// The time in which a thread of Swift's pool serves calls that don't suspend.
///
/// A call runs on its task's thread, and gets a free connection at once: a task that makes one call after another would
/// never let another task use its thread. So a call at the end of the thread's turn lets the others run first. A turn
/// lasts some milliseconds, or 256 calls. It also ends if the thread does something else for a while.
package enum Turn {
    /// Whether the calling thread's turn is over. Asked when a call begins.
    package static var isOver: Bool { relata_turn_is_over() }

    /// Lets waiting tasks run, and begins a new turn.
    package static func pass() async {
        await Task.yield()
        relata_turn_begin()
    }

    /// Records the end of a call.
    package static func end() { relata_turn_end() }
}
