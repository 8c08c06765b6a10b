import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const read = (path: string): string => readFileSync(join(__dirname, '../../..', path), 'utf8');

interface AlertRule {
  readonly alert: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly runbook_url: string };
}

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly targets: readonly { readonly expr: string }[];
}

/** What to do about each alert. */
export const RUNBOOKS = read('docs/alerts.md');

/** A function of the shell, which its commands use. */
export const WORKER_LOG = /^worker-log\(\).*$/m.exec(RUNBOOKS)![0];

/** Its commands that look for something in a log. */
export const LOG_COMMANDS = RUNBOOKS.match(/^(?!worker-log\(\)).*\| jq .*$/gm)!;

/** The alerting rules as they are shipped. */
export const ALERTS_FILE = read('deploy/chart/files/alerts.yaml');

export const alertRules = (parse(ALERTS_FILE) as { groups: [{ rules: AlertRule[] }] }).groups[0].rules;

export const dashboard = JSON.parse(read('deploy/chart/files/dashboard.json')) as {
  readonly templating: { readonly list: readonly object[] };
  readonly panels: readonly Panel[];
};
