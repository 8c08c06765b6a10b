/**
 * Checks the manifests in the folder that is named, and what the chart renders for every variable of docker-compose.yml,
 * with the helm and kubectl on the PATH.
 */
const assert = require('node:assert');
const { spawnSync } = require('node:child_process');
const { readdirSync, readFileSync } = require('node:fs');
const { parse, parseAllDocuments } = require('yaml');

const CHART = 'deploy/chart';

function run(program, args, input) {
  const { status, stdout, stderr } = spawnSync(program, args, { input, encoding: 'utf8' });
  return { ok: status === 0, stdout, stderr };
}

const objects = (manifests) =>
  parseAllDocuments(manifests).flatMap((document) => {
    assert.deepStrictEqual(document.errors, []);
    return document.toJS() ?? [];
  });

/** What has pods. */
const workloads = (manifests) => objects(manifests).filter(({ spec }) => spec?.template?.spec?.containers);

/** The paths of `given` that `known` does not have, or has with another value. */
const lost = (given, known, path = '') =>
  given !== null && typeof given === 'object'
    ? Object.keys(given).flatMap((key) => lost(given[key], known?.[key], `${path}.${key}`))
    : given === known
      ? []
      : [path];

/** kubectl reads a workload into the types of its release, which leaves out what they do not know. */
function knownToKubectl(workload) {
  const args = ['set', 'env', '--local', '--filename=-', '--output=json', 'ADDED=1'];
  const { ok, stdout, stderr } = run('kubectl', args, JSON.stringify(workload));
  assert(ok, stderr);
  return JSON.parse(stdout);
}

function checkManifests(text) {
  for (const { kind } of objects(text)) assert.notStrictEqual(kind, 'Secret');
  assert.doesNotMatch(text, /:\/\/[^/\s]*:[^/\s]*@|password:/i);
  for (const workload of workloads(text)) {
    assert.deepStrictEqual(lost(workload, knownToKubectl(workload)), [], workload.metadata.name);
  }
}

const render = (values) =>
  run('helm', ['template', 'drawbridge', CHART, '--values', '-'], JSON.stringify(values));

/** Gives every variable of docker-compose.yml as a setting, and those that are refused as secrets. */
function renderWithEvery(names) {
  const values = {
    image: { repository: 'registry.example.com/drawbridge' },
    trustedProxies: ['10.42.0.0/16'],
    auditSigningKey: { existingSecret: 'audit-signing-key' },
    settings: Object.fromEntries(names.map((name) => [name, 'given'])),
    fromSecrets: {},
  };
  for (;;) {
    const { ok, stdout, stderr } = render(values);
    if (ok) return stdout;
    const [, refused, secret] = /settings\.([A-Z0-9_]+): (a secret)?/.exec(stderr) ?? assert.fail(stderr);
    delete values.settings[refused];
    if (secret) values.fromSecrets[refused] = { name: 'drawbridge', key: refused };
  }
}

/** Each process can be given the variables that it has in docker-compose.yml. */
function checkVariables() {
  const { services } = parse(readFileSync('docker-compose.yml', 'utf8'));
  const wanted = Object.fromEntries(
    Object.entries({ api: 'api', worker: 'worker', migrate: 'migration' }).map(([service, component]) => [
      component,
      // without the constants, which are the image's
      Object.entries(services[service].environment).flatMap(([name, value]) =>
        value.includes('${') ? name : [],
      ),
    ]),
  );
  const rendered = workloads(renderWithEvery([...new Set(Object.values(wanted).flat())]));
  for (const [component, names] of Object.entries(wanted)) {
    const found = rendered.find(({ metadata }) => metadata.name === `drawbridge-${component}`);
    const [{ env, envFrom }] = found.spec.template.spec.containers;
    assert(envFrom.length > 0);
    const given = new Set([...env.map(({ name }) => name), 'DATABASE_URL']);
    assert.deepStrictEqual(
      names.filter((name) => !given.has(name)),
      [],
      component,
    );
  }
}

/** Alerts and dashboard arrive in the cluster as they are in the chart's files. */
function checkFiles() {
  const { ok, stdout, stderr } = render({
    image: { repository: 'registry.example.com/drawbridge' },
    prometheusRule: { enabled: true },
    dashboard: { enabled: true },
  });
  assert(ok, stderr);
  const rendered = (kind) => objects(stdout).find((object) => object.kind === kind);
  const file = (name) => readFileSync(`${CHART}/files/${name}`, 'utf8');
  assert.deepStrictEqual(rendered('PrometheusRule').spec, parse(file('alerts.yaml')));
  assert.deepStrictEqual(
    JSON.parse(rendered('ConfigMap').data['drawbridge.json']),
    JSON.parse(file('dashboard.json')),
  );
}

const [, , folder] = process.argv;
const { version, appVersion } = parse(readFileSync(`${CHART}/Chart.yaml`, 'utf8'));
const release = JSON.parse(readFileSync('package.json', 'utf8')).version;
assert.deepStrictEqual({ version, appVersion }, { version: release, appVersion: release });
for (const name of readdirSync(folder)) checkManifests(readFileSync(`${folder}/${name}`, 'utf8'));
checkVariables();
checkFiles();
