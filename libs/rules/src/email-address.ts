// what would be lost in an ASCII form, or mean something in a URL, and is refused instead
const NOT_IN_A_DOMAIN = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}/\\?#:%[\]]/u;

/** The one form of an e-mail address, by which accounts are distinguished: lower case, NFC, the domain in ASCII. */
export function emailForm(text: string): string {
  const address = text.trim().toLowerCase().normalize('NFC');
  const at = address.lastIndexOf('@') + 1;
  const domain = address.slice(at);
  // an ASCII one stays as it is: a URL would read numbers as an IPv4 address
  if (at === 0 || !/\P{ASCII}/u.test(domain) || NOT_IN_A_DOMAIN.test(domain)) return address;
  const url = `http://${domain}`;
  return URL.canParse(url) ? address.slice(0, at) + new URL(url).hostname : address;
}
