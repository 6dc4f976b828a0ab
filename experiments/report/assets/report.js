"use strict";
// Draws the panels as they come into view, switches what the legend names, sorts and filters the
// table. Texts are set as texts: nothing here makes HTML of what comes from rows.
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const data = (id) => JSON.parse(document.getElementById(id).textContent);

  const element = (name, content) => {
    const made = document.createElement(name);
    made.textContent = content;
    return made;
  };

  // Figures

  const sections = new Map();  // by number: colours, panels, and which signs are hidden
  const sectionOf = (element) => {
    const number = element.dataset.section;
    if (!sections.has(number)) sections.set(number, { ...data(`data-${number}`), hidden: new Set() });
    return sections.get(number);
  };
  const preferred = window.matchMedia("screen and (prefers-color-scheme: dark)");
  let dark = preferred.matches;
  const touched = window.matchMedia("(pointer: coarse)").matches;

  const painted = (trace, colour, hidden) => {
    const own = { ...trace, visible: !hidden, showlegend: false };
    delete own.hovertext;
    if (own.line) own.line = { ...own.line, color: colour };
    if (own.marker || own.type === "bar") {
      own.marker = { ...own.marker, color: colour, line: { ...own.marker?.line, color: colour } };
    }
    own.textfont = { color: own.type === "bar" ? ink() : colour, size: own.mode === "text" ? 12 : 11 };
    return own;
  };
  const ink = () => (dark ? "#e6e9ed" : "#1d2126");

  const laidOut = (layout) => {
    const faint = dark ? "#2c333a" : "#e4e7eb";
    const edge = dark ? "#5a6470" : "#9aa3ad";
    const axis = (given) => ({
      gridcolor: faint, linecolor: edge, zerolinecolor: edge, automargin: true, ticks: "outside",
      ticklen: 3, tickcolor: edge, tickformat: "~g", fixedrange: touched, ...given,
      title: { standoff: 8, font: { size: 12 }, ...given?.title },
    });
    const made = {
      ...layout,
      xaxis: axis({ zeroline: false, ...layout.xaxis }),
      yaxis: axis(layout.yaxis),
      autosize: true,
      margin: { l: 46, r: 14, t: 26, b: 44 },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: "system-ui, 'Segoe UI', 'Liberation Sans', sans-serif", size: 11.5, color: ink() },
      hovermode: "closest",
      modebar: { bgcolor: "rgba(0,0,0,0)", color: edge, activecolor: ink() },
      dragmode: touched ? false : "zoom",
    };
    if (layout.annotations) made.margin.l = 12;
    return made;
  };

  const config = {
    displaylogo: false, responsive: true, typesetMath: false, showTips: false,
    modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]],
    displayModeBar: touched ? false : "hover",
  };

  const draw = (plot) => {
    const section = sectionOf(plot);
    const panel = section.panels[plot.dataset.panel];
    const traces = panel.traces.map((trace, i) => {
      const sign = panel.signs[i];
      const colour = section.colours[sign][dark ? 1 : 0];
      return painted(trace, colour, section.hidden.has(sign));
    });
    const first = !plot.dataset.drawn;
    plot.dataset.drawn = "true";
    window.Plotly.react(plot, traces, laidOut(panel.layout), config);
    if (!first) return;
    plot.on("plotly_hover", ({ points: [point], event }) => {
      const { hovertext } = panel.traces[point.curveNumber];
      const sign = panel.signs[point.curveNumber];
      tell(section.texts[hovertext[point.pointNumber]], section.colours[sign], event);
    });
    plot.on("plotly_unhover", () => { told.hidden = true; });
  };

  // A text under the mouse, in one place for all panels: in a panel it would be cut off.
  const told = document.body.appendChild(document.createElement("div"));
  told.className = "told";
  told.setAttribute("role", "tooltip");
  told.hidden = true;
  const tell = (words, colours, event) => {
    const [heading, ...rest] = words.split("\n");
    told.replaceChildren(element("strong", heading), ...rest.map((line) => element("div", line)));
    told.style.borderColor = colours[dark ? 1 : 0];
    told.hidden = false;
    const [width, height] = [told.offsetWidth, told.offsetHeight];
    const right = event.clientX + 14 + width > document.documentElement.clientWidth;
    const below = event.clientY + 14 + height > window.innerHeight;
    told.style.left = `${Math.max(4, right ? event.clientX - 14 - width : event.clientX + 14)}px`;
    told.style.top = `${Math.max(4, below ? event.clientY - 14 - height : event.clientY + 14)}px`;
  };
  window.addEventListener("scroll", () => { told.hidden = true; }, { passive: true });
  const plots = all(".plot");
  const redraw = (which = plots) => which.filter((plot) => plot.dataset.drawn).forEach(draw);

  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      seen.unobserve(entry.target);
      draw(entry.target);
    }
  }, { rootMargin: "400px" });
  plots.forEach((plot) => seen.observe(plot));

  preferred.addEventListener("change", () => { dark = preferred.matches; redraw(); });
  window.addEventListener("beforeprint", () => { dark = false; plots.forEach(draw); });
  window.addEventListener("afterprint", () => { dark = preferred.matches; redraw(); });

  for (const legend of all(".legend")) {
    const section = sectionOf(legend);
    const its = plots.filter((plot) => plot.dataset.section === legend.dataset.section);
    const signs = all("[data-sign]", legend);
    const show = (button, shown) => {
      button.setAttribute("aria-pressed", String(shown));
      section.hidden[shown ? "delete" : "add"](Number(button.dataset.sign));
    };
    legend.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      if (button.dataset.all) signs.forEach((sign) => show(sign, button.dataset.all === "true"));
      else show(button, button.getAttribute("aria-pressed") === "false");
      redraw(its);
    });
  }

  // Table

  const table = document.getElementById("rows");
  const body = table.tBodies[0];
  const details = data("details");
  const column = new Map(details.columns.map((name, number) => [name, number]));
  const sharedColumns = new Set(details.shared);
  const lines = [...body.rows].map((line, number) => ({ line, number, text: null }));
  const heads = [...table.tHead.rows[0].cells];

  const valuesOf = (number) => {
    const found = new Map();
    const row = details.rows[number];
    for (let i = 0; i < row.length; i += 2) {
      found.set(row[i], sharedColumns.has(row[i]) ? details.values[row[i + 1]] : row[i + 1]);
    }
    return found;
  };
  const value = (number, name) => valuesOf(number).get(column.get(name));

  // Filters

  const search = document.getElementById("filter-text");
  const menus = ["experiment", "cluster", "method", "status"]
    .map((name) => [name, document.getElementById(`filter-${name}`)])
    .filter(([, menu]) => menu);
  const count = document.getElementById("count");
  for (const one of lines) {
    one.of = {};
    for (const [name] of menus) {
      one.of[name] = name === "experiment" ? one.line.cells[1].textContent : value(one.number, name);
    }
  }
  const close = (line) => {
    const next = line.nextElementSibling;
    if (next?.classList.contains("more")) next.remove();
    line.querySelector("button")?.setAttribute("aria-expanded", "false");
  };
  const fits = (one, words) => {
    if (menus.some(([name, menu]) => menu.value && menu.value !== one.of[name])) return false;
    if (!words.length) return true;
    one.text ??= one.line.textContent.toLowerCase();
    return words.every((word) => one.text.includes(word));
  };
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const one of lines) {
      const hide = !fits(one, words);
      if (hide && one.line.querySelector("[aria-expanded=true]")) close(one.line);
      if (one.line.hidden !== hide) one.line.hidden = hide;
      shown += hide ? 0 : 1;
    }
    count.textContent = `${shown} of ${lines.length} rows`;
  };
  let waiting = 0;
  search.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(filter, 120); });
  menus.forEach(([, menu]) => menu.addEventListener("change", filter));
  const form = search.form;
  form.addEventListener("submit", (event) => { event.preventDefault(); filter(); });
  document.getElementById("clear").addEventListener("click", () => { form.reset(); filter(); });

  // Sorting: numbers as numbers, empty cells last whichever way, equal ones as they were

  const keyOf = (line, place) => {
    const cell = line.cells[place];
    const text = cell.dataset.value ?? cell.textContent;
    return text === "" ? null : text;
  };
  const collator = new Intl.Collator("en", { numeric: true });
  const sort = (place, down) => {
    body.querySelectorAll(".more").forEach((more) => close(more.previousElementSibling));
    const numeric = heads[place].classList.contains("number");
    const keys = new Map(lines.map(({ line }) => {
      const key = keyOf(line, place);
      return [line, key === null || !numeric ? key : Number(key)];
    }));
    const compare = (a, b) => (numeric ? a - b : collator.compare(a, b)) * (down ? -1 : 1);
    lines.sort((one, other) => {
      const [a, b] = [keys.get(one.line), keys.get(other.line)];
      if (a === null || b === null) return (a === null) - (b === null) || one.number - other.number;
      return compare(a, b) || one.number - other.number;
    });
    body.append(...lines.map(({ line }) => line));
    heads.forEach((head, i) => {
      if (head.hasAttribute("aria-sort")) {
        head.setAttribute("aria-sort", i !== place ? "none" : down ? "descending" : "ascending");
      }
    });
  };
  heads.forEach((head, place) => {
    head.querySelector("button")?.addEventListener("click", () => {
      sort(place, head.getAttribute("aria-sort") === "ascending");
    });
  });

  // Details of a row

  const text = (given) => {
    if (given === null || typeof given !== "object") return String(given);
    return Object.entries(given)
      .map(([name, one]) => `${name}: ${one !== null && typeof one === "object" ? `{${text(one)}}` : one}`)
      .join("; ");
  };
  const open = (line, number) => {
    const more = document.createElement("tr");
    const cell = document.createElement("td");
    const list = document.createElement("dl");
    more.className = "more";
    cell.colSpan = heads.length;
    for (const [place, given] of [...valuesOf(number)].sort((a, b) => a[0] - b[0])) {
      list.append(element("dt", details.columns[place]), element("dd", text(given)));
    }
    cell.append(list);
    more.append(cell);
    line.after(more);
  };
  const numbers = new Map(lines.map(({ line, number }) => [line, number]));
  body.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const line = button.closest("tr");
    if (button.getAttribute("aria-expanded") === "true") return void close(line);
    open(line, numbers.get(line));
    button.setAttribute("aria-expanded", "true");
  });
})();
