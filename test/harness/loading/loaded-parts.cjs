/** The drivers and the scoped packages of this process: `aws.driver.js`, `@aws-sdk/client-ec2`. @returns {string[]} */
exports.loadedParts = () => {
  const files = Object.keys(require.cache);
  const parts = files.flatMap((file) => {
    const name = /([\w-]+\.driver\.js)$/.exec(file) ?? /.*node_modules\/(@[^/]+\/[^/]+)/.exec(file);
    return name ? [name[1]] : [];
  });
  return [...new Set(parts)].sort();
};
