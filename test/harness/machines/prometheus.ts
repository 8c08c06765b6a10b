import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../network/free-port';
import { neededInCi } from '../needed-in-ci';
import { until } from '../until';

/** Whether Prometheus is installed. Without it, the tests report that they were skipped. */
export const hasPrometheus = neededInCi('prometheus', spawnSync('prometheus', ['--version']).status === 0);

type Texts = Readonly<Record<string, string>>;
type Sample = readonly [at: number, value: string];

/** A real Prometheus that scrapes and evaluates every second. */
export class Prometheus {
  private readonly startedAt = Date.now();

  private constructor(
    private readonly child: ChildProcess,
    private readonly port: number,
    private readonly folder: string,
  ) {}

  /** @param rules text of a rule file @param jobs their names, and the ports to scrape */
  static async start(rules: string, jobs: Readonly<Record<string, number>>): Promise<Prometheus> {
    const folder = mkdtempSync(join(tmpdir(), 'drawbridge-prometheus-'));
    const config = {
      global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
      rule_files: ['rules.yaml'],
      scrape_configs: Object.entries(jobs).map(([job, port]) => ({
        job_name: job,
        static_configs: [{ targets: [`127.0.0.1:${port}`] }],
      })),
    };
    writeFileSync(join(folder, 'rules.yaml'), rules);
    // JSON is YAML, too
    writeFileSync(join(folder, 'prometheus.yaml'), JSON.stringify(config));
    const port = await freePort();
    const options = `--config.file=prometheus.yaml --storage.tsdb.path=data --web.listen-address=127.0.0.1:${port}`;
    const child = spawn('prometheus', options.split(' '), { cwd: folder, stdio: 'ignore' });
    const prometheus = new Prometheus(child, port, folder);
    const isReady = () =>
      fetch(`http://127.0.0.1:${port}/-/ready`)
        .then(({ ok }) => ok)
        .catch(() => false);
    await until('Prometheus is ready', isReady);
    const scraped = `count(up == 1) == ${Object.keys(jobs).length}`;
    await until('every job is scraped', () => prometheus.hasAnswered(scraped));
    return prometheus;
  }

  /** Whether a query had an answer at any second so far. @throws Error when it is no query */
  async hasAnswered(query: string): Promise<boolean> {
    const [start, end] = [String(this.startedAt / 1000), String(Date.now() / 1000)];
    const range = { query, start, end, step: '1' };
    const { result } = await this.get<{ result: { values: Sample[] }[] }>('query_range', range);
    return result.some(({ values }) => values.some(([, value]) => value !== 'NaN'));
  }

  async firing(): Promise<{ readonly labels: Texts; readonly annotations: Texts }[]> {
    const { alerts } = await this.get<{ alerts: { labels: Texts; annotations: Texts; state: string }[] }>(
      'alerts',
    );
    return alerts.filter(({ state }) => state === 'firing');
  }

  async stop(): Promise<void> {
    const gone = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGKILL');
    await gone;
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async get<Data>(path: string, query: Texts = {}): Promise<Data> {
    const parameters = new URLSearchParams(query).toString();
    const response = await fetch(`http://127.0.0.1:${this.port}/api/v1/${path}?${parameters}`);
    const body = (await response.json()) as { data: Data; error?: string };
    if (body.error) throw new Error(`${body.error}: ${JSON.stringify(query)}`);
    return body.data;
  }
}
