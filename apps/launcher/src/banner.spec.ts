import { banner } from './banner';

const addresses = { port: 3000, simulatorPort: 4666, publicUrl: 'http://localhost:3000', metricsPorts: null };

describe('banner', () => {
  it('shows the log file that mail is written to when no mail server is configured', () => {
    expect(banner(addresses, null, '/data/logs/api.log')).toContain('/data/logs/api.log');
    expect(banner(addresses, null, null)).not.toContain('Mail');
  });
});
