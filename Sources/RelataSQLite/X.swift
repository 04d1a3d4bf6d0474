import GRDB
import GRDBSQLite
import CRelataSQLite
import RelataCore
