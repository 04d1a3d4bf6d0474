#if Server
import NIOCore

/// Runs tasks on a connection's event loop, where they write without a switch between threads. A task on it must never
/// block: all connections of the loop would wait.
final class EventLoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(_ loop: any EventLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
#endif
