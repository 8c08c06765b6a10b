import { alertRules, dashboard, RUNBOOKS } from '../builders/alerts';

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
  const { panels, templating } = dashboard;

  it('asks for the data source to read from', () => {
    expect(templating.list).toContainEqual(
      expect.objectContaining({ name: 'datasource', type: 'datasource', query: 'prometheus' }),
    );
  });

  it.each(panels)('asks a question in a panel and says what the answer means: $title', (panel) => {
    expect(panel.title).toMatch(/\?$/);
    expect(panel.description).toMatch(/\.$/);
    expect(['stat', 'timeseries']).toContain(panel.type);
    expect(panel.datasource).toEqual({ type: 'prometheus', uid: '${datasource}' });
    expect(panel.fieldConfig.defaults.unit).toMatch(/^\w+$/);
    expect(panel.targets.map(({ refId }) => refId)).toEqual(['A', 'B'].slice(0, panel.targets.length));
  });

  it('has panels of different ids that do not overlap', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(Math.max(...panels.map(({ gridPos: { x, w } }) => x + w))).toBe(24);
  });
});
