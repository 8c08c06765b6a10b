import { stopTestServer } from './test-server';

/** Ends the PostgreSQL of the run and deletes its data. */
export default async function globalTeardown(): Promise<void> {
  await stopTestServer();
  delete process.env['TEST_POSTGRES_URL'];
}
