/// Adds objects of one model to a save, or finds what they link to; `Model.gather(_:)` runs it.
@_documentation(visibility: internal)
@frozen
public struct GatherLoop<M: Model> {
    @usableFromInline
    enum Step {
        case add([M], SaveRole)
        /// Rows of the bucket, which are numbered as nodes from that on.
        case visit(Range<Int>, firstNode: Int)
    }

    @usableFromInline let bucket: Bucket<M>
    @usableFromInline let session: SaveSession
    @usableFromInline let step: Step
    /// The nodes of the objects that were added.
    @usableFromInline var nodes: [Int] = []

    init(_ step: Step, _ bucket: Bucket<M>, _ session: SaveSession) {
        self.bucket = bucket
        self.session = session
        self.step = step
    }

    @inlinable
    mutating func run() throws {
        switch step {
        case .add(let objects, let role):
            nodes.reserveCapacity(objects.count)
            for object in objects { nodes.append(try bucket.add(object, as: role, session)) }
        case .visit(let rows, let firstNode):
            let gatherer = LinkGatherer(session, bucket)
            var visitor = LinkVisitor(.gathering(gatherer))
            for row in rows {
                gatherer.row = row
                gatherer.node = firstNode + (row - rows.lowerBound)
                // A copy: an object may link to others of its own model, which join the bucket meanwhile.
                let object = bucket.objects[row]
                try object.visitLinks(&visitor)
            }
        }
    }
}
