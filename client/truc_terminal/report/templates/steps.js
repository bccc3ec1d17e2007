"use strict";
// Steps through a match: shows of each thing marked with stages only what is so at the stage looked at.
const found = (id) => document.getElementById(id);
const hands = [...document.querySelectorAll(".hand")].map((section) => ({
  section,
  first: Number(section.dataset.first),
  last: Number(section.dataset.last),
}));
const steps = [...document.querySelectorAll(".hand .records li:not(.quiet)")].map((item) => Number(item.dataset.stage));
const AFTER_ALL = Number.MAX_SAFE_INTEGER;
let at = null; // the stage looked at; null for the whole match

function show(hand, stage) {
  for (const it of hand.section.querySelectorAll("[data-from], [data-until]")) {
    const { from = -1, until = Infinity } = it.dataset;
    it.hidden = stage < Number(from) || stage >= Number(until);
  }
  for (const it of hand.section.querySelectorAll("[data-left]")) {
    it.classList.toggle("left", stage >= Number(it.dataset.left));
  }
  for (const it of hand.section.querySelectorAll("[data-open]")) {
    it.classList.toggle("closed", at !== null && found("as-seen").checked && stage < Number(it.dataset.open));
  }
  for (const it of hand.section.querySelectorAll(".records li")) {
    it.classList.toggle("now", at !== null && Number(it.dataset.stage) === stage);
    it.classList.toggle("later", Number(it.dataset.stage) > stage);
  }
}

function told() {
  const now = document.querySelector(".hand:not([hidden]) .records li.now");
  if (now === null) return "";
  now.parentElement.scrollTop = now.offsetTop - now.parentElement.clientHeight / 2;
  return [...now.querySelectorAll("p:not(.proof)")].map((line) => line.textContent).join(" · ");
}

function draw() {
  document.body.classList.toggle("stepping", at !== null);
  for (const hand of hands) {
    const here = at === null || (hand.first <= at && at <= hand.last);
    hand.section.hidden = !here;
    if (here) show(hand, at ?? AFTER_ALL);
  }
  found("caption").textContent = told();
  found("slider").value = at === null ? 0 : steps.indexOf(at);
  const cursor = found("cursor");
  const { first, step, left } = cursor.parentElement.dataset;
  cursor.toggleAttribute("hidden", at === null);
  cursor.setAttribute("transform", `translate(${Number(left) + (at - first + 0.5) * step} 0)`);
}

function go(stage) {
  const isFirst = at === null && stage !== null;
  at = stage;
  draw();
  if (isFirst) found("controls").scrollIntoView();
}

function step(by) {
  const place = at === null ? (by > 0 ? 0 : steps.length - 1) : steps.indexOf(at) + by;
  go(steps[Math.min(Math.max(place, 0), steps.length - 1)]);
}

function stepHand(by) {
  const here = hands.findIndex((hand) => at !== null && hand.first <= at && at <= hand.last);
  const hand = hands[Math.min(Math.max(here + by, 0), hands.length - 1)];
  go(hand.first);
}

const keys = {
  ArrowRight: () => step(1),
  " ": () => step(1),
  ArrowLeft: () => step(-1),
  "shift ArrowRight": () => stepHand(1),
  "shift ArrowLeft": () => stepHand(-1),
  Home: () => go(steps[0]),
  End: () => go(steps[steps.length - 1]),
  Escape: () => go(null),
};

if (steps.length > 0) {
  found("controls").hidden = false;
  found("slider").max = steps.length - 1;
  found("next").onclick = () => step(1);
  found("back").onclick = () => step(-1);
  found("next-hand").onclick = () => stepHand(1);
  found("back-hand").onclick = () => stepHand(-1);
  found("all").onclick = () => go(null);
  found("as-seen").onchange = () => (at === null ? step(1) : draw());
  found("slider").oninput = (event) => go(steps[Number(event.target.value)]);
  for (const link of document.querySelectorAll(".curve a")) {
    link.addEventListener("click", () => go(null));
  }
  document.addEventListener("keydown", (event) => {
    const act = keys[(event.shiftKey ? "shift " : "") + event.key];
    const ownKeys = event.key === " " ? /^(INPUT|BUTTON|SUMMARY|A)$/ : /^INPUT$/;
    if (act === undefined || ownKeys.test(event.target.tagName)) return;
    event.preventDefault();
    act();
  });
  const linked = () => {
    const asked = /^#stage-(\d+)$/.exec(location.hash);
    if (asked !== null) go(steps.find((stage) => stage >= Number(asked[1])) ?? steps.at(-1));
  };
  window.addEventListener("hashchange", linked);
  draw();
  linked();
}
