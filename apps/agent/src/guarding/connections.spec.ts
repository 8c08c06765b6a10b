import { desiredRule } from '../state/host-state.testing';
import { readConnections, withoutAccess } from './connections';

const HEADER =
  '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode';
const tcp = (...lines: string[]): string => [HEADER, ...lines, ''].join('\n');
/** 10.77.0.1:22 and 10.77.0.2 */
const [HOST_22, VISITOR] = ['01004D0A:0016', '02004D0A:C350'];

describe('Established connections', () => {
  it('are those that others opened to a port that is listened on', () => {
    const table = tcp(
      '   0: 00000000:0016 00000000:0000 0A 00000000:00000000',
      `   1: ${HOST_22} ${VISITOR} 01 00000000:00000000`,
      // opened by the host itself
      `   2: 01004D0A:D431 ${VISITOR} 01 00000000:00000000`,
      // from itself, closing
      '   3: 0100007F:0016 0100007F:C350 01 00000000:00000000',
      `   4: ${HOST_22} 03004D0A:C350 08 00000000:00000000`,
    );
    expect(readConnections([table])).toEqual([{ address: '10.77.0.2', port: 22 }]);
  });

  it('have IPv6 addresses, and IPv4 addresses that IPv6 sockets map', () => {
    const any = '00000000000000000000000000000000';
    const table = tcp(
      `   0: ${any}:0016 ${any}:0000 0A`,
      // fd77::2
      `   1: 000077FD000000000000000001000000:0016 000077FD000000000000000002000000:C350 01`,
      // ::ffff:10.77.0.2
      `   2: 0000000000000000FFFF000001004D0A:0016 0000000000000000FFFF000002004D0A:C351 01`,
    );
    expect(readConnections(['', table])).toEqual([
      { address: '10.77.0.2', port: 22 },
      { address: 'fd77::2', port: 22 },
    ]);
  });

  it('have no access when no rule covers their address and port, or it has ended', () => {
    const [ann, bob] = [
      { address: '10.77.0.2', port: 22 },
      { address: '192.0.2.9', port: 22 },
    ];
    const cut = (...rules: Parameters<typeof desiredRule>[1][]): string[] =>
      withoutAccess(
        [ann, bob],
        rules.map((given, index) => desiredRule(`${index}`, given)),
        1000,
      ).map(({ address }) => address);
    expect(cut()).toEqual(['10.77.0.2', '192.0.2.9']);
    expect(cut({ cidr: '10.77.0.0/24' })).toEqual(['192.0.2.9']);
    expect(cut({ cidr: '10.77.0.0/24', deadline: 1000 })).toEqual(['10.77.0.2', '192.0.2.9']);
    expect(
      cut({ cidr: '10.77.0.0/24', ports: [23] }, { cidr: '192.0.2.9/32', protocol: 'all', ports: [] }),
    ).toEqual(['10.77.0.2']);
  });
});
