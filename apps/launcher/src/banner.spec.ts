import { banner } from './banner';

const addresses = { port: 3000, simulatorPort: 4666, publicUrl: 'http://localhost:3000', metricsPorts: null };

describe('the banner', () => {
  it('says where mail is to be read while none goes out', () => {
    expect(banner(addresses, null, '/data/logs/api.log')).toContain('/data/logs/api.log');
    expect(banner(addresses, null, null)).not.toContain('Mail');
  });
});
