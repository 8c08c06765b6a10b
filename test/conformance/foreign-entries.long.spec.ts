import { LIST_TYPES } from './foreign-entries';
import { describeForeignEntries } from './foreign-entries-conformance';

// more than a thousand batches of all types
for (const type of LIST_TYPES) describeForeignEntries(type, 250);
