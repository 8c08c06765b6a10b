import {
  AuthorizeSecurityGroupIngressCommand,
  DescribeSecurityGroupRulesCommand,
  EC2Client,
} from '@aws-sdk/client-ec2';
import { DriverRegistry } from '#drivers';
import { startSimulator } from '../../apps/simulator/src/start-simulator';
import { simulatedObjects } from '../builders/resources/driver-load';
import { SIMULATED_KEY } from '../builders/accounts/organization';
import { simulatedClouds } from '../harness/product/drawbridge';
import { addition, kinds, remove } from './driver-actions';

describe('Rules of a security group that name groups and prefix lists, with tags', () => {
  let simulator: Awaited<ReturnType<typeof startSimulator>>;
  beforeAll(async () => {
    simulator = await startSimulator({ port: 0, entriesPerList: 20 });
  });
  afterAll(() => simulator.close());

  it('let no address in, and stay as they are beside ours', async () => {
    const { url } = simulator;
    const target = { ...simulatedObjects(url).AWS, claims: new Map<string, never>() };
    const [region, credentials] = [target.region!, SIMULATED_KEY];
    const ec2 = new EC2Client({ endpoint: `${url}/aws/ec2`, region, credentials });
    const read = async (): Promise<object[]> => {
      const Filters = [{ Name: 'group-id', Values: [target.identifier] }];
      const { SecurityGroupRules = [] } = await ec2.send(new DescribeSecurityGroupRulesCommand({ Filters }));
      return SecurityGroupRules.filter(({ IsEgress }) => !IsEgress);
    };
    const ssh = { IpProtocol: 'tcp', FromPort: 22, ToPort: 22 };
    const [list, group, cidr] = ['pl-0123456789abcdef0', 'sg-0123456789abcdef1', '2001:db8:1::/48'];
    const [Tags, Description] = [[{ Key: 'Name', Value: 'office' }], 'the office'];
    const command = new AuthorizeSecurityGroupIngressCommand({
      GroupId: target.identifier,
      IpPermissions: [
        { ...ssh, UserIdGroupPairs: [{ GroupId: group, Description }] },
        { ...ssh, PrefixListIds: [{ PrefixListId: list, Description }] },
        { ...ssh, Ipv6Ranges: [{ CidrIpv6: cidr, Description }] },
      ],
      TagSpecifications: [{ ResourceType: 'security-group-rule', Tags }],
    });
    await ec2.send(command);
    const before = await read();
    const sources = [{ ReferencedGroupInfo: { GroupId: group } }, { PrefixListId: list }, { CidrIpv6: cidr }];
    expect(before).toMatchObject(sources.map((source) => ({ ...source, Description, Tags })));

    const driver = await new DriverRegistry(simulatedClouds(url)).driver('AWS');
    await driver.verify(target, { port: 22 });
    const { rules, room } = await driver.readRules(target);
    expect(rules.map(({ key }) => key)).toEqual([`${cidr} tcp 22`]);
    // the group counts once for both, the list as the twenty entries that it may have
    expect(room).toMatchObject([{ used: 21 }, { used: 2 }]);
    const change = addition({ address: '203.0.113.7/32', protocol: 'tcp', ports: [{ from: 22, to: 22 }] });
    const [added] = await driver.applyChanges(target, [change]);
    if (added?.result !== 'done') throw new Error(JSON.stringify(added));
    expect(kinds(await driver.applyChanges(target, [remove(added.providerRuleId!)]))).toEqual(['done']);
    expect(await read()).toEqual(before);
  });
});
