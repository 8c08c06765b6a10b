import { openToEveryone, type AccessRule } from './open-access';
import { parseRuleKey } from './rule-spec';

/** @param text a key, `no` before that of a denial */
const ruleOf = (text: string): AccessRule => ({
  ...parseRuleKey(text.replace('no ', '')),
  isDenial: text.startsWith('no '),
});

const open = (config: Parameters<typeof openToEveryone>[0], ...rules: string[]): string | null => {
  const found = openToEveryone(config, rules.map(ruleOf));
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
    [
      'all addresses that are routed on the internet',
      { port: 22 },
      ['0.0.0.0/1 tcp 22', '128.0.0.0/2 tcp 22', '192.0.0.0/3 tcp 22'],
      'tcp 22 from 0.0.0.0/0',
    ],
    ['all of them in IPv6', { port: 22 }, ['2000::/3 tcp 22'], 'tcp 22 from ::/0'],
    [
      'every protocol by name and the others',
      { protocol: 'all' },
      ['::/0 tcp 1-9', '::/0 all *'],
      'all from ::/0',
    ],
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
    ['nearly all addresses on the internet', { port: 22 }, ['0.0.0.0/1 tcp 22', '192.0.0.0/3 tcp 22']],
    ['all addresses of one IP version only, in half', { port: 22 }, ['0.0.0.0/1 tcp 22', '8000::/1 tcp 22']],
  ] as const)('does not find %s', (_, config, rules) => {
    expect(open(config, ...rules)).toBeNull();
  });

  it.each([
    ['for the other IP version', { port: 22 }, ['no ::/0 all *', '0.0.0.0/0 tcp 22'], 22],
    ['for another port', { ports: [22, 443] }, ['no 0.0.0.0/0 tcp 443', '0.0.0.0/0 tcp 22'], 22],
    ['for a part of its ports', { ports: [21, 25] }, ['no 0.0.0.0/0 tcp 20-22', '0.0.0.0/0 tcp 20-30'], 25],
    ['for another protocol', { port: 22 }, ['no 0.0.0.0/0 udp *', '0.0.0.0/0 all *'], 22],
    ['for some addresses', { port: 22 }, ['no 10.0.0.0/8 all *', '0.0.0.0/0 tcp 22'], 22],
    ['for half of all addresses', { port: 22 }, ['no 0.0.0.0/1 all *', '0.0.0.0/0 tcp 22'], 22],
    ['after it', { port: 22 }, ['0.0.0.0/0 tcp 22', 'no 0.0.0.0/0 all *'], 22],
    ['on another port', { port: 22 }, ['0.0.0.0/1 tcp 22', 'no 0.0.0.0/0 tcp 23', '128.0.0.0/1 tcp 22'], 22],
  ] as const)('finds an allowance beside a denial %s', (_, config, rules, port) => {
    expect(open(config, ...rules)).toBe(`tcp ${port} from 0.0.0.0/0`);
  });

  it.each([
    ['the port', { port: 22 }, ['no 0.0.0.0/0 tcp 22', '0.0.0.0/0 tcp 22']],
    ['a range with the port', { port: 22 }, ['no 0.0.0.0/0 tcp 20-22', '0.0.0.0/0 tcp 20-30']],
    ['every protocol', { port: 22 }, ['no 0.0.0.0/0 all *', '0.0.0.0/0 tcp 22']],
    ['one of all ports', {}, ['no 0.0.0.0/0 tcp 22', '0.0.0.0/0 tcp *']],
    ['one of all protocols', { protocol: 'all' }, ['no 0.0.0.0/0 tcp *', '0.0.0.0/0 all *']],
    ['two halves', { port: 22 }, ['no 0.0.0.0/1 all *', 'no 128.0.0.0/1 tcp 22', '0.0.0.0/0 tcp 22']],
    [
      'two halves of which one was allowed before',
      { port: 22 },
      ['no 0.0.0.0/1 all *', '128.0.0.0/1 tcp 22', 'no 128.0.0.0/1 all *', '0.0.0.0/0 tcp 22'],
    ],
    [
      'everybody after one half',
      { port: 22 },
      ['0.0.0.0/1 tcp 22', 'no 0.0.0.0/0 all *', '128.0.0.0/1 tcp 22'],
    ],
    [
      'both IP versions',
      { port: 22 },
      ['no ::/0 all *', 'no 0.0.0.0/0 all *', '0.0.0.0/0 tcp 22', '::/0 tcp 22'],
    ],
  ] as const)('does not find an allowance after a denial of %s', (_, config, rules) => {
    expect(open(config, ...rules)).toBeNull();
  });

  it('requires that the same traffic is open in every part of the target', () => {
    const config = { ports: [22, 443] };
    const [ssh, https] = [[ruleOf('0.0.0.0/0 tcp 22')], [ruleOf('0.0.0.0/0 tcp 443')]];
    expect(openToEveryone(config, ssh, https)).toBeNull();
    expect(openToEveryone(config, ssh, [])).toBeNull();
    expect(openToEveryone(config)).toBeNull();
    expect(openToEveryone(config, https, [...ssh, ...https])?.traffic).toBe('tcp 443');
  });

  it('decides with thousands of denied addresses', () => {
    const denied = Array.from({ length: 4000 }, (_, index) =>
      ruleOf(`no ${100 + (index >> 8)}.${index & 255}.0.0/16 all *`),
    );
    const half = denied.flatMap((rule) => [rule, ruleOf('0.0.0.0/1 tcp 22')]);
    const rules = [...half, ruleOf('no 0.0.0.0/0 all *'), ruleOf('128.0.0.0/1 tcp 22')];
    expect(openToEveryone({ port: 22 }, rules)).toBeNull();
  });
});
