import { openToEveryone } from './open-access';
import { parseRuleKey } from './rule-spec';

const open = (config: Parameters<typeof openToEveryone>[0], ...keys: string[]): string | null => {
  const found = openToEveryone(config, keys.map(parseRuleKey));
  return found && `${found.traffic} from ${found.from}`;
};

describe('openToEveryone', () => {
  it.each([
    ['the port', { port: 22 }, ['0.0.0.0/0 tcp 22'], 'tcp 22 from 0.0.0.0/0'],
    ['the port for IPv6', { port: 22 }, ['::/0 tcp 22'], 'tcp 22 from ::/0'],
    ['a range with the port', { port: 22 }, ['0.0.0.0/0 tcp 20-25'], 'tcp 22 from 0.0.0.0/0'],
    ['one of several ports', { ports: [22, 443] }, ['0.0.0.0/0 tcp 443'], 'tcp 443 from 0.0.0.0/0'],
    ['every port of the protocol', { port: 22 }, ['0.0.0.0/0 tcp *'], 'tcp 22 from 0.0.0.0/0'],
    ['every protocol', { port: 53, protocol: 'udp' }, ['0.0.0.0/0 all *'], 'udp 53 from 0.0.0.0/0'],
    ['ICMP', { protocol: 'icmp' }, ['0.0.0.0/0 icmp *'], 'icmp from 0.0.0.0/0'],
    [
      'two halves of all addresses',
      { port: 22 },
      ['0.0.0.0/1 tcp 22', '128.0.0.0/1 tcp *'],
      'tcp 22 from 0.0.0.0/0',
    ],
    ['all ports in two parts', {}, ['0.0.0.0/0 tcp 0-99', '0.0.0.0/0 tcp 100-65535'], 'tcp from 0.0.0.0/0'],
  ] as const)('finds %s', (_, config, rules, expected) => {
    expect(open(config, ...rules)).toBe(expected);
  });

  it.each([
    ['nothing', { port: 22 }, []],
    ['a large range', { port: 22 }, ['0.0.0.0/1 tcp 22', '128.0.0.0/2 tcp 22']],
    ['another port', { port: 22 }, ['0.0.0.0/0 tcp 23']],
    ['another protocol', { port: 53 }, ['0.0.0.0/0 udp 53']],
    ['a part of all ports', {}, ['0.0.0.0/0 tcp 443']],
    ['one protocol of all', { protocol: 'all' }, ['0.0.0.0/0 tcp *']],
    ['halves on different ports', { port: 22 }, ['0.0.0.0/1 tcp 22', '128.0.0.0/1 tcp 23']],
    ['all addresses of one IP version only, in half', { port: 22 }, ['0.0.0.0/1 tcp 22', '8000::/1 tcp 22']],
  ] as const)('does not find %s', (_, config, rules) => {
    expect(open(config, ...rules)).toBeNull();
  });
});
