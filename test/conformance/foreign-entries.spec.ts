import { LIST_TYPES } from './foreign-entries';
import { describeForeignEntries } from './foreign-entries-conformance';

// as much of the long suite as shows a planted error
for (const type of LIST_TYPES) describeForeignEntries(type, 20);
