import { group, ownOrganization } from '../builders/accounts/organization';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

/** Two ports are two rules of a group: 28 addresses fit, and half of one more. */
const RULES = 57;
const FITTING = 28;

/** A full security group holds as many whole addresses as fit. */
describe('A full security group', () => {
  const drawbridge = Drawbridge.own({ simulator: { SIMULATOR_RULES_PER_GROUP: String(RULES) } });
  const org = ownOrganization(drawbridge, [{ group: group(0), config: { ports: [22, 443] } }]);

  it('is not filled with halves of addresses', async () => {
    // so that all of them are in one batch
    await drawbridge.cloud.fault({ target: group(0), kind: 'throttle', seconds: 3 });
    const started = await Promise.all(
      Array.from({ length: FITTING + 12 }, (_, index) =>
        org.started({ ipv4Address: `203.0.113.${index}`, holder: `job-${index}` }),
      ),
    );
    const statuses = await until('every session is settled', async () => {
      const sessions = await Promise.all(started.map(({ id }) => org.session(id)));
      return sessions.every(({ status }) => status !== 'PENDING') && sessions.map(({ status }) => status);
    });
    expect(statuses.filter((status) => status === 'ACTIVE')).toHaveLength(FITTING);
    expect(statuses.filter((status) => status === 'FAILED')).toHaveLength(12);
  });
});
