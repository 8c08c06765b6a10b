import { LIST_TYPES } from './foreign-entries';
import { describeForeignEntries } from './foreign-entries-conformance';

// as many as show a planted error; the long suite has many more
for (const type of LIST_TYPES) describeForeignEntries(type, 20);
