import { group, organization, type Organization } from '../builders/organization';
import { Drawbridge } from '../harness/drawbridge';
import { hasRedis, RedisServer } from '../harness/redis';

const onRedis = hasRedis ? describe : describe.skip;
if (!hasRedis)
  process.stderr.write('\n*** redis-server is not on the PATH: the Redis tests DID NOT RUN ***\n\n');

onRedis('The same code runs on Redis', () => {
  let redis: RedisServer;
  let drawbridge: Drawbridge;
  let org: Organization;

  beforeAll(async () => {
    redis = await RedisServer.start();
    drawbridge = await Drawbridge.start({ redisUrl: redis.url });
    org = await organization(drawbridge, [{ group: group(0), config: { port: 22 } }]);
  });
  afterAll(async () => {
    await drawbridge.stop();
    await redis.kill();
  });

  const throughTheWholeLife = async (address: string): Promise<void> => {
    const { id } = await org.started({ ipv4Address: address });
    await org.reaches(id, 'ACTIVE', 8000);
    await org.admin.expect(200, org.admin.post(`/sessions/${id}/stop`));
    await org.reaches(id, 'CANCELLED', 8000);
    expect((await drawbridge.cloud.rules()).some((rule) => rule.address === address)).toBe(false);
  };

  it('a session starts and ends', async () => {
    await throughTheWholeLife('203.0.113.140');
  });

  it('while Redis is down, too: nothing is refused and nothing is lost', async () => {
    await redis.kill();
    await throughTheWholeLife('203.0.113.141');
    const ready = await drawbridge.api.get<{ status: string }>('/health/ready');
    expect(ready).toMatchObject({ status: 200, body: { status: 'DEGRADED' } });
  });

  it('and when it comes back empty', async () => {
    await redis.startAgain();
    await throughTheWholeLife('203.0.113.142');
  });
});
