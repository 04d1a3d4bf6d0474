#include "CRelataSQLite.h"
