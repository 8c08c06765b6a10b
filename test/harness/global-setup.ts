import { acquireTestServer } from './test-server';

/** Jest calls this for every project that has it. */
export default acquireTestServer;
