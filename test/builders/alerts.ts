import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';

const ROOT = resolve(__dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: Readonly<Record<'summary' | 'description' | 'runbook_url', string>>;
}

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly type: string;
  readonly description: string;
  readonly datasource: { readonly type: string; readonly uid: string };
  readonly gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>;
  readonly fieldConfig: { readonly defaults: { readonly unit: string } };
  readonly targets: readonly { readonly refId: string; readonly expr: string }[];
}

interface Dashboard {
  readonly templating: { readonly list: readonly { readonly name: string; readonly type: string }[] };
  readonly panels: readonly Panel[];
}

/** What to do about each alert. */
export const RUNBOOKS = read('docs/alerts.md');

/** A function of the shell, which its commands use. */
export const WORKER_LOG = /^worker-log\(\).*$/m.exec(RUNBOOKS)![0];

/** Its commands that look for something in a log. */
export const LOG_COMMANDS = RUNBOOKS.match(/^(?!worker-log\(\)).*\| jq .*$/gm)!;

/** The alerting rules as they are shipped. */
export const ALERTS_FILE = read('deploy/chart/files/alerts.yaml');

export const alertRules = (parse(ALERTS_FILE) as { groups: { rules: AlertRule[] }[] }).groups.flatMap(
  ({ rules }) => rules,
);

export const dashboard = JSON.parse(read('deploy/chart/files/dashboard.json')) as Dashboard;
