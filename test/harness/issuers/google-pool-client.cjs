// Google's own client in a process of its own: it loads its HTTP client in a way that Jest cannot.
// argv: its configuration as JSON, the subject token, a URL to read. Prints the response's JSON, or fails with its error.
const { IdentityPoolClient } = require('google-auth-library');

const [configuration, token, url] = process.argv.slice(2);
const client = new IdentityPoolClient({
  ...JSON.parse(configuration),
  subject_token_supplier: { getSubjectToken: () => Promise.resolve(token) },
});
client.request({ url }).then(
  ({ data }) => process.stdout.write(JSON.stringify(data)),
  (error) => {
    process.stderr.write(String(error));
    process.exitCode = 1;
  },
);
