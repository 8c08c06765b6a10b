import { readTenantUrl, tenantUrlRefusal } from './tenant-url';

describe('A tenant URL', () => {
  it.each([
    ['http://gateway.example.com', 'http://gateway.example.com', 80],
    ['https://gateway.example.com/', 'https://gateway.example.com', 443],
    ['HTTPS://Gateway.Example.COM:443', 'https://gateway.example.com', 443],
    ['http://gateway.example.com.:9180/', 'http://gateway.example.com:9180', 9180],
    ['http://gateway.example.com:9180/a/b//', 'http://gateway.example.com:9180/a/b', 9180],
    ['http://gateway.example.com:9180/a/../b', 'http://gateway.example.com:9180/b', 9180],
    ['https://203.0.113.7:9180/x', 'https://203.0.113.7:9180/x', 9180],
    ['https://[2606:4700::1111]:9180', 'https://[2606:4700::1111]:9180', 9180],
    ['http://0x7f.1:9180', 'http://127.0.0.1:9180', 9180],
    ['http://2130706433', 'http://127.0.0.1', 80],
    ['http://0177.0.0.1', 'http://127.0.0.1', 80],
    ['http://127.1', 'http://127.0.0.1', 80],
  ])('%s is normalized to %s', (given, text, port) => {
    expect(readTenantUrl(given)).toMatchObject({ text, port });
  });

  it('is at most 2048 characters long', () => {
    const longest = `http://gateway.example.com/${'a'.repeat(2021)}`;
    expect([tenantUrlRefusal(longest), tenantUrlRefusal(`${longest}a`)]).toEqual([
      null,
      'must be at most 2048 characters',
    ]);
    expect(readTenantUrl(`${longest}a`)).toBeNull();
  });

  it('contains an IPv6 address without brackets', () => {
    expect(readTenantUrl('http://[::1]:80/a')).toMatchObject({
      hostname: '::1',
      path: '/a',
      isSecure: false,
    });
  });

  it.each([
    '',
    'gateway.example.com',
    '//gateway.example.com',
    'ftp://gateway.example.com',
    'file:///etc/passwd',
    'gopher://gateway.example.com',
    'data:text/plain,x',
    'javascript:alert(1)',
    'ws://gateway.example.com',
    'unix:/var/run/docker.sock',
    'http://',
    'http:///x',
    'http://user@gateway.example.com',
    'http://user:secret@gateway.example.com',
    'http://gateway.example.com@169.254.169.254',
    'http://gateway.example.com?x=1',
    'http://gateway.example.com/?',
    'http://gateway.example.com/#f',
    'http://gateway.example.com\\@127.0.0.1',
    'http:\\\\gateway.example.com',
    'http://gateway.example.com/\r\nx-api-key: y',
    'http://gate way.example.com',
    ' http://gateway.example.com',
    'http://gateway.example.com:65536',
    'http://gateway.example.com:x',
    'http://[::1',
    'http://[fe80::1%25eth0]',
    'http://1.2.3.4.5',
    'http://256.1.1.1',
    'http://0x100000000',
  ])('rejects %j', (given) => {
    expect(tenantUrlRefusal(given)).toBe('must be an http or https address without user, query or fragment');
  });

  it.each([
    'http://169.254.169.254',
    'http://169.254.169.254.',
    'http://0xa9fea9fe',
    'http://2852039166',
    'http://0251.0376.0251.0376',
    'http://169.254.43518',
    'http://[::ffff:169.254.169.254]',
    'http://[::ffff:a9fe:a9fe]',
    'http://[0:0:0:0:0:ffff:a9fe:a9fe]',
    'http://[64:ff9b::a9fe:a9fe]',
    'http://[2002:a9fe:a9fe::1]',
    'http://[fe80::1]',
    'http://[fd00:ec2::254]',
    'http://100.100.100.200',
    'http://168.63.129.16',
    'http://0.0.0.0:9180',
    'http://0',
    'http://[::]',
    'http://224.0.0.1',
    'http://255.255.255.255',
    'http://①⑥⑨.254.169.254',
  ])('rejects forbidden IP addresses in any notation: %s', (given) => {
    expect(tenantUrlRefusal(given)).toBe('must not lead to a link-local, metadata or reserved address');
  });

  it.each([
    'http://10.0.0.1:9180',
    'http://127.0.0.1:9180',
    'http://localhost',
    'https://gateway.example.com',
  ])('accepts %s before resolution', (given) => {
    expect(tenantUrlRefusal(given)).toBeNull();
  });
});
