import { alertRules, dashboard, RUNBOOKS } from '../builders/programs/alerts';

describe('Alerts', () => {
  it('have a runbook each, and no other has one', () => {
    const headings = [...RUNBOOKS.matchAll(/^## (Drawbridge\w+)$/gm)].map(([, name]) => name);
    expect(new Set(headings)).toEqual(new Set(alertRules.map(({ alert }) => alert)));
  });

  it.each(alertRules)('$alert links its runbook, which has a command to begin with', (rule) => {
    expect(rule.annotations.runbook_url).toBe(`docs/alerts.md#${rule.alert.toLowerCase()}`);
    expect(['critical', 'warning']).toContain(rule.labels.severity);
    const [, runbook = ''] = RUNBOOKS.split(`\n## ${rule.alert}\n`);
    expect(runbook.split('\n## ')[0]).toMatch(/\*\*Users:\*\*[^]*\*\*Look:\*\*[^]*```sh\n[^]*\*\*Do:\*\*/);
  });
});

describe('The dashboard', () => {
  it('asks for the data source to read from', () => {
    const datasource = { name: 'datasource', type: 'datasource', query: 'prometheus' };
    expect(dashboard.templating.list).toContainEqual(expect.objectContaining(datasource));
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  });

  it.each(dashboard.panels)('asks a question and says what the answer means: $title', (panel) => {
    expect(panel).toMatchObject({
      title: expect.stringMatching(/\?$/) as string,
      type: expect.stringMatching(/^(?:stat|timeseries)$/) as string,
      description: expect.stringMatching(/\.$/) as string,
      datasource: { type: 'prometheus', uid: '${datasource}' },
      fieldConfig: { defaults: { unit: expect.stringMatching(/^\w+$/) as string } },
      targets: panel.targets.map((_, index) => ({ refId: 'AB'[index] })),
    });
  });
});
