import { email, PASSWORD } from '../builders/accounts/people';
import { ApiClient, type Answer } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';

const AT_ONCE = 8;

describe('Registration can be closed', () => {
  const drawbridge = Drawbridge.shared({ worker: false });

  const apiWith = async (REGISTRATION: string): Promise<ApiClient> =>
    new ApiClient(`http://127.0.0.1:${(await drawbridge.startApi({ REGISTRATION })).port}/api/v1`);
  const register = (api: ApiClient): Promise<Answer> =>
    api.post('/auth/register', { organizationName: 'Acme', email: email(), password: PASSWORD });
  const refusal = {
    status: 403,
    body: { message: expect.stringContaining('drawbridge-admin create-organization') as string },
  };
  const count = async (): Promise<number> =>
    (await drawbridge.query<{ count: number }>('SELECT count(*)::int AS count FROM organizations'))[0]!.count;

  it('closed: nobody registers, and the answer says who creates organizations', async () => {
    expect(await register(await apiWith('closed'))).toMatchObject(refusal);
    expect(await count()).toBe(0);
  });

  it('first: of many at once, through two servers, one registers, and then nobody', async () => {
    const apis = [await apiWith('first'), await apiWith('first')];
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, index) => register(apis[index % 2]!)),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      201,
      ...Array.from({ length: AT_ONCE - 1 }, () => 403),
    ]);
    expect(await register(apis[0]!)).toMatchObject(refusal);
    expect(await count()).toBe(1);
  });
});
