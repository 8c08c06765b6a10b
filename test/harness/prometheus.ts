import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port';
import { neededInCi } from './needed-in-ci';
import { until } from './until';

/** Whether Prometheus is installed. Without it, the tests report that they were skipped. */
export const hasPrometheus = neededInCi('prometheus', spawnSync('prometheus', ['--version']).status === 0);

export const sayNoPrometheus = (): boolean =>
  process.stderr.write('\n*** prometheus is not on the PATH: alerts and dashboard WERE NOT TESTED ***\n\n');

interface Alert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly state: 'pending' | 'firing';
}

type Sample = readonly [at: number, value: string];
const isKnown = ([, value]: Sample): boolean => value !== 'NaN';

const CONFIG = `global: { scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s }
rule_files: [rules.yaml]
scrape_configs:
`;

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
    const scraped = Object.entries(jobs).map(
      ([job, port]) => `  - { job_name: ${job}, static_configs: [{ targets: ['127.0.0.1:${port}'] }] }\n`,
    );
    writeFileSync(join(folder, 'rules.yaml'), rules);
    writeFileSync(join(folder, 'prometheus.yaml'), CONFIG + scraped.join(''));
    const port = await freePort();
    const child = spawn(
      'prometheus',
      [
        `--config.file=${join(folder, 'prometheus.yaml')}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      { stdio: 'ignore' },
    );
    const prometheus = new Prometheus(child, port, folder);
    await until('Prometheus is ready', () =>
      fetch(`http://127.0.0.1:${port}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    await until('every job is scraped', () =>
      prometheus.answers(`count(up == 1) == ${Object.keys(jobs).length}`),
    );
    return prometheus;
  }

  /** Whether a query has an answer now. @throws Error when it is no query */
  async answers(query: string): Promise<boolean> {
    const { result } = await this.get<{ result: { value: Sample }[] }>('query', { query });
    return result.some(({ value }) => isKnown(value));
  }

  /** Whether a query had an answer at any second so far. */
  async hasAnswered(query: string): Promise<boolean> {
    const [start, end] = [String(this.startedAt / 1000), String(Date.now() / 1000)];
    const range = { query, start, end, step: '1' };
    const { result } = await this.get<{ result: { values: Sample[] }[] }>('query_range', range);
    return result.some(({ values }) => values.some(isKnown));
  }

  async firing(): Promise<Alert[]> {
    const { alerts } = await this.get<{ alerts: Alert[] }>('alerts', {});
    return alerts.filter(({ state }) => state === 'firing');
  }

  async stop(): Promise<void> {
    const gone = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGKILL');
    await gone;
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async get<Data>(path: string, query: Readonly<Record<string, string>>): Promise<Data> {
    const response = await fetch(
      `http://127.0.0.1:${this.port}/api/v1/${path}?${String(new URLSearchParams(query))}`,
    );
    const body = (await response.json()) as { data: Data; error?: string };
    if (body.error) throw new Error(`${body.error}: ${JSON.stringify(query)}`);
    return body.data;
  }
}
