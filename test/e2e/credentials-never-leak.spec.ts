import { everyCredential, OWN_KEYS } from '../builders/resources/credentials';
import { group, ownOrganization, SIMULATED_KEY } from '../builders/accounts/organization';
import type { Credential } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

/** In every secret that is sent here, and nowhere else. */
const CANARY = 'c4n4ryTh4tMustStayIns1de';

describe('The secrets of credentials never leak', () => {
  const drawbridge = Drawbridge.own({ worker: false, api: { ...OWN_KEYS, LOG_LEVEL: 'trace' } });
  const org = ownOrganization(drawbridge);
  const answers: string[] = [];

  beforeAll(async () => {
    await drawbridge.startWorker({ ...OWN_KEYS, LOG_LEVEL: 'trace' });
    await everythingThatCanHappen();
  });

  const send = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const answer = await org.admin.send(method, path, body);
    answers.push(JSON.stringify([answer.body, [...answer.headers]]));
    return answer.body;
  };

  /** Created, listed, rotated, checked on request and in the background, used, refused, malformed, deleted. */
  async function everythingThatCanHappen(): Promise<void> {
    for (const { hints: _, ...body } of everyCredential(CANARY)) {
      const { id } = (await send('POST', '/credentials', body)) as Credential;
      await send('PATCH', `/credentials/${id}`, {
        name: 'rotated',
        credentialData: body.credentialData ?? {},
      });
      await send('POST', `/credentials/${id}/verify`);
      await send('GET', `/credentials/${id}`);
    }
    await send('GET', '/credentials');
    const wrong = { ...SIMULATED_KEY, secretAccessKey: CANARY, sessionToken: `${CANARY}-token` };
    const aws = { name: 'wrong', provider: 'AWS', credentialType: 'ACCESS_KEY', credentialData: wrong };
    const { id } = (await send('POST', '/credentials', aws)) as Credential;
    const checked = 'SELECT 1 FROM credentials WHERE id = $1 AND is_valid = false';
    await until('the worker has checked it', async () => (await drawbridge.query(checked, [id])).length > 0);
    const resource = (await send('POST', '/resources', {
      name: 'x',
      credentialId: id,
      provider: 'AWS',
      resourceType: 'SECURITY_GROUP',
      resourceIdentifier: group(1),
      region: 'eu-central-1',
    })) as { id: string };
    await send('POST', `/resources/${resource.id}/verify`);
    await send('POST', '/credentials', {
      ...aws,
      credentialData: { ...wrong, accessKeyId: `${CANARY} blank` },
    });
    await send('POST', '/credentials', { ...aws, credentialType: 'NONE' });
    await send('POST', '/credentials', `{"credentialData": {"secretAccessKey": "${CANARY}"`);
    await send('PATCH', `/credentials/${id}`, { credentialData: CANARY });
    await send('DELETE', `/credentials/${id}`);
    const { id: unused } = (await send('POST', '/credentials', aws)) as Credential;
    await send('DELETE', `/credentials/${unused}`);
  }

  it('the canary was sent and stored', async () => {
    expect(JSON.stringify(everyCredential(CANARY)).split(CANARY).length).toBeGreaterThan(6);
    const kept = await drawbridge.query<{ sealed_data: Record<string, string> }>(
      'SELECT sealed_data FROM credentials',
    );
    expect(kept.flatMap((row) => Object.keys(row.sealed_data))).toContain('secretAccessKey');
  });

  it('not in a response', () => {
    expect(answers.length).toBeGreaterThan(30);
    expect(answers.filter((answer) => answer.includes(CANARY))).toEqual([]);
  });

  it('not in the output of the API and the worker', () => {
    expect(drawbridge.apiServer.output).toContain('/api/v1/credentials');
    expect(drawbridge.apiServer.output).not.toContain(CANARY);
    expect(drawbridge.worker.output).not.toContain(CANARY);
  });

  it('not in any table of the database, including the audit trail and the queue', async () => {
    const tables = await drawbridge.query<{ name: string }>(
      `SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
       WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema')`,
    );
    expect(tables.length).toBeGreaterThan(25);
    const encoded = [CANARY, Buffer.from(CANARY).toString('hex')];
    for (const { name } of tables) {
      const rows = await drawbridge.query<{ text: string }>(`SELECT t::text AS text FROM ${name} t`);
      expect(rows.filter(({ text }) => encoded.some((form) => text.includes(form)))).toEqual([]);
    }
  });
});
