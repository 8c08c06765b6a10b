import { LIST_TYPES } from './foreign-entries';
import { describeForeignEntries } from './foreign-entries-conformance';

for (const type of LIST_TYPES) describeForeignEntries(type, 1000);
