#if Server
import Foundation
import Relata
import RelataParse

/// A review, as the class of that name has it.
@Model struct Review {
    @Attribute(.primaryKey) var objectId: String
    var text: String?
    var stars: Double?
    @Attribute(.createdAt) var createdAt: Date = .distantPast
    @Attribute(.updatedAt) var updatedAt: Date = .distantPast
}

extension CloudCode {
    /// Finds the texts of the best reviews that the caller may see, the newest first.
    mutating func addBestReviews() {
        function("bestReviews") { call in
            let reviews = try call.asCaller.models(Review.self)
            let best = Review.where { $0.stars == 5 }.sorted { $0.createdAt.descending }
            return .array(try await reviews.fetch(best).map { .string($0.text ?? "") })
        }
    }
}
#endif
