import { releaseTestServer } from './test-server';

/** Jest calls this for every project that has it. */
export default releaseTestServer;
