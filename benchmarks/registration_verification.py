import argparse
from verification_candidates import collect
from verification_data import different_places, pairs, twin_pairs, available_groups
if __name__=='__main__':
    parser=argparse.ArgumentParser(); parser.add_argument('--collect'); parser.add_argument('--part',type=int,nargs=2,default=(0,1)); a=parser.parse_args()
    makers = {"different places": different_places, "different twins": lambda: twin_pairs(0, False)}
    collect(a.collect, makers.get(a.collect, lambda: pairs(a.collect))(), tuple(a.part))
