import { trialRefusal } from './unsupported-trial';

describe('trialRefusal', () => {
  it.each([
    [{ dryRun: true }, 'dryRun'],
    [{ 'dry-run': 'All' }, 'dry-run'],
    [{ DRY_RUN: '' }, 'DRY_RUN'],
    [{ resourceIds: [], simulate: 1 }, 'simulate'],
    [{ Preview: { of: 'it' } }, 'Preview'],
    [{ whatIf: 'yes' }, 'whatIf'],
    [{ validate_only: ['false', 'true'] }, 'validate_only'],
  ])('names the field of %j', (fields, name) => {
    for (const refusal of [trialRefusal([], fields, {}), trialRefusal([], undefined, fields)]) {
      expect(refusal?.getStatus()).toBe(400);
      expect(Object.keys(refusal?.extras.validationErrors ?? {})).toEqual([name]);
      expect(refusal?.message).toContain(name);
    }
  });

  it('lets pass what is supported, in this spelling alone', () => {
    expect(trialRefusal(['dryRun'], { dryRun: true })).toBeNull();
    expect(trialRefusal(['dryRun'], { dry_run: true })).not.toBeNull();
  });

  it.each([
    [{ dryRun: false }],
    [{ dryRun: 'False', simulate: 0, preview: null, whatIf: 'no', validateOnly: ['off'] }],
    [{ dryRunner: true, previews: true }],
    [Buffer.from('dryRun')],
    ['dryRun'],
  ])('lets %j pass', (fields) => {
    expect(trialRefusal([], fields)).toBeNull();
  });
});
