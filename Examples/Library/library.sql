-- A small lending library: what `scripts/run` walks through.
--
-- Every delete rule is in it, written as any database writes them: ON DELETE CASCADE, ON DELETE SET NULL, and nothing,
-- which denies.

CREATE TABLE Publisher (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);

CREATE TABLE Genre (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);

CREATE TABLE Author (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    born INTEGER
);

-- A publisher's books go with it; without their genre they stay.
CREATE TABLE Book (
    id INTEGER PRIMARY KEY,
    title TEXT NOT NULL,
    year INTEGER NOT NULL,
    publisherId INTEGER NOT NULL REFERENCES Publisher ON DELETE CASCADE,
    genreId INTEGER REFERENCES Genre ON DELETE SET NULL
);
CREATE INDEX Book_publisherId ON Book (publisherId);
CREATE INDEX Book_genreId ON Book (genreId);

-- A book has several authors, an author several books.
CREATE TABLE Book_authors (
    bookId INTEGER NOT NULL REFERENCES Book ON DELETE CASCADE,
    authorId INTEGER NOT NULL REFERENCES Author ON DELETE CASCADE,
    PRIMARY KEY (bookId, authorId)
);
CREATE INDEX Book_authors_authorId ON Book_authors (authorId);

-- Reviews go with their book.
CREATE TABLE Review (
    id INTEGER PRIMARY KEY,
    stars INTEGER NOT NULL,
    text TEXT,
    bookId INTEGER NOT NULL REFERENCES Book ON DELETE CASCADE
);
CREATE INDEX Review_bookId ON Review (bookId);

-- A card belongs to one reader, a reader has one card.
CREATE TABLE Reader (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL
);

CREATE TABLE Card (
    number TEXT PRIMARY KEY NOT NULL,
    readerId INTEGER NOT NULL UNIQUE REFERENCES Reader ON DELETE CASCADE
);

-- What is on loan can't be deleted, and neither can the reader who has it.
CREATE TABLE Loan (
    id INTEGER PRIMARY KEY,
    since TEXT NOT NULL,
    bookId INTEGER NOT NULL REFERENCES Book,
    readerId INTEGER NOT NULL REFERENCES Reader
);
CREATE INDEX Loan_bookId ON Loan (bookId);
CREATE INDEX Loan_readerId ON Loan (readerId);

INSERT INTO Publisher (id, name) VALUES
    (1, 'Ace Books'), (2, 'Harper & Row'), (3, 'Gollancz'), (4, 'Chatto & Windus');

INSERT INTO Genre (id, name) VALUES
    (1, 'Science fiction'), (2, 'Fantasy'), (3, 'Essays');

INSERT INTO Author (id, name, born) VALUES
    (1, 'Ursula K. Le Guin', 1929), (2, 'Terry Pratchett', 1948), (3, 'Neil Gaiman', 1960),
    (4, 'Arkady Strugatsky', 1925), (5, 'Boris Strugatsky', 1933), (6, 'Aldous Huxley', 1894);

INSERT INTO Book (id, title, year, publisherId, genreId) VALUES
    (1, 'The Left Hand of Darkness', 1969, 1, 1),
    (2, 'City of Illusions', 1967, 1, 1),
    (3, 'The Dispossessed', 1974, 2, 1),
    (4, 'The Wind''s Twelve Quarters', 1975, 2, 1),
    (5, 'Good Omens', 1990, 3, 2),
    (6, 'Mort', 1987, 3, 2),
    (7, 'Hard to Be a God', 1973, 3, 1),
    (8, 'Brave New World', 1932, 4, 1),
    (9, 'The Doors of Perception', 1954, 4, 3);

INSERT INTO Book_authors (bookId, authorId) VALUES
    (1, 1), (2, 1), (3, 1), (4, 1), (5, 2), (5, 3), (6, 2), (7, 4), (7, 5), (8, 6), (9, 6);

INSERT INTO Review (id, stars, text, bookId) VALUES
    (1, 5, 'Cold, and warm.', 1), (2, 4, NULL, 1), (3, 5, 'Both moons are real.', 3), (4, 5, NULL, 3),
    (5, 4, 'Short and sharp.', 4), (6, 5, 'The best apocalypse yet.', 5), (7, 5, 'DEATH LIKES THIS.', 6),
    (8, 3, NULL, 6), (9, 4, 'Grim.', 8);

INSERT INTO Reader (id, name) VALUES (1, 'Mei Chen'), (2, 'Amadou Diallo'), (3, 'Ida Holm');

INSERT INTO Card (number, readerId) VALUES ('R-0107', 1), ('R-0108', 2), ('R-0112', 3);

INSERT INTO Loan (id, since, bookId, readerId) VALUES
    (1, '2026-10-02', 5, 1), (2, '2026-10-14', 7, 2), (3, '2026-11-03', 1, 1);
