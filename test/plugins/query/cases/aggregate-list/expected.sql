select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select (select row_to_json(x.*) from (select t2.f0::text as "price", t2.f1 as "rating") x) as "sum" from (select sum(t1."price") as f0, sum(t1."rating") as f1 from "public"."book" t1) t2) r
-- []
